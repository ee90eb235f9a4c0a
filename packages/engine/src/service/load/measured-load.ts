import { createLoadMeter, type LoadMeter, type OnTurned } from './load-meter.ts'

/** The load of a service, which measures itself. */
export type MeasuredLoad = ReturnType<typeof measureLoad>

const SAMPLE_MS = 250

/** Measures the delay of the event loop from here on, and what else it is given. `allowedDelay`: milliseconds that it may be late now. */
export function measureLoad(allowedDelay: () => number, onTurned: OnTurned) {
  const meter = createLoadMeter(onTurned)
  let source = (): number => 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const late = Math.max(0, now - last - SAMPLE_MS)
    last = now
    meter.take(Math.max(late / allowedDelay(), source()), now)
  }, SAMPLE_MS).unref()
  return Object.assign(Object.defineProperties({} as LoadMeter, Object.getOwnPropertyDescriptors(meter)), {
    /** Has a load read beside the delay of the event loop, in place of what was read before: that of the proxy. */
    read(next: () => number) {
      source = next
    },
    close: () => clearInterval(timer),
  })
}
