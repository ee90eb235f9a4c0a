/** Sets how many calls fit into the shortest time. */
const STEPS = 4
const MIN_INTERVAL_MS = 10
const MAX_INTERVAL_MS = 1_000

/**
 * Calls `look` at intervals that suit the shortest of some times, with the milliseconds since its last call. The returned function stops
 * the calls.
 */
export function startTicks(times: readonly number[], look: (elapsed: number) => void): () => void {
  const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.min(...times) / STEPS))
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    // A process that stood still did not wait for any client.
    const elapsed = Math.min(now - last, 2 * interval)
    last = now
    look(elapsed)
  }, interval).unref()
  return () => clearInterval(timer)
}
