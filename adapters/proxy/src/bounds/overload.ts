import { getHeapStatistics } from 'node:v8'

/** Limits beyond which the process is overloaded. */
export interface OverloadLimits {
  /** Milliseconds by which the event loop may be late. */
  readonly eventLoopDelay: number
  /** A share of the heap that Node may use, from 0 to 1. */
  readonly heapUsed: number
}

/** Reports whether the process is overloaded. */
export interface Overload {
  readonly present: boolean
  close(): void
}

const INTERVAL_MS = 100

/** Measures ten times a second, so that the proxy soon admits requests again. */
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
