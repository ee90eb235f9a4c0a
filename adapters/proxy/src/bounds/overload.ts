import { getHeapStatistics } from 'node:v8'
import type { Limits } from '@sallyport/engine/limits'

const INTERVAL_MS = 100

/** Reports whether the process is overloaded: measures ten times a second, so that the proxy soon admits requests again. */
export function watchOverload({ eventLoopDelay, heapUsed }: Pick<Limits, 'eventLoopDelay' | 'heapUsed'>) {
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
    get present(): boolean {
      return present
    },
    close: (): void => clearInterval(timer),
  }
}
