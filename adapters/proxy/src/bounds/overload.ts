import { getHeapStatistics } from 'node:v8'

/** How much is too much. */
export interface OverloadLimits {
  /** Milliseconds that the event loop may be late. */
  readonly eventLoopDelay: number
  /** 0 to 1, of the heap that Node may use. */
  readonly heapUsed: number
}

/** Whether the process has more to do than it can. */
export interface Overload {
  readonly present: boolean
  close(): void
}

const INTERVAL_MS = 100

/** Looks ten times a second, so that what was shed is taken again soon. */
export function watchOverload({ eventLoopDelay, heapUsed }: OverloadLimits): Overload {
  let last = performance.now()
  let present = false
  const timer = setInterval(() => {
    const now = performance.now()
    const late = now - last - INTERVAL_MS
    last = now
    const { used_heap_size, heap_size_limit } = getHeapStatistics()
    present = late > eventLoopDelay || used_heap_size > heapUsed * heap_size_limit
  }, INTERVAL_MS).unref()
  return {
    get present() {
      return present
    },
    close: () => clearInterval(timer),
  }
}
