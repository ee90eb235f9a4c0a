/** The time by which several steps together must be done. */
export interface Deadline {
  /** Aborts with an Error that names the time. */
  readonly signal: AbortSignal
  /** Rejects when the signal aborts before the work is done, for work that takes no signal. */
  race<Result>(work: Promise<Result>): Promise<Result>
  /** Ends the waiting; the signal will not abort any more. */
  clear(): void
}

/** `outer` ends it earlier. */
export function openDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`no result within ${timeoutMs} ms`)), timeoutMs)
  const giveUp = () => controller.abort(new Error('given up'))
  if (outer?.aborted) giveUp()
  outer?.addEventListener('abort', giveUp)
  const { signal } = controller
  return {
    signal,
    race: (work) =>
      new Promise((resolve, reject) => {
        const expire = () => reject(signal.reason)
        if (signal.aborted) expire()
        signal.addEventListener('abort', expire)
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', expire))
      }),
    clear: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', giveUp)
    },
  }
}
