/**
 * Keeps the event loop of this thread from going to sleep: what comes while it is awake is met at once, and to wake it
 * takes as long as to write some records. Each call says anew for how many milliseconds; it costs a processor so long.
 */
export function createWakefulness(): (milliseconds: number) => void {
  let until = 0
  let awake = false

  function turn(): void {
    awake = performance.now() < until
    if (awake) setImmediate(turn)
  }

  return (milliseconds) => {
    until = performance.now() + milliseconds
    if (awake) return
    awake = true
    setImmediate(turn)
  }
}
