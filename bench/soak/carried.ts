const STEP_S = 4
const WARM_UP_STEPS = 3
const STEPS = [0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1, 1.25]
/** Below this share of a rate the machine, which has the clients and the origin too, does not keep up. */
const KEPT_UP = 0.97
/** Share of the rate that is carried for a moment, for minutes and with what goes on beside it. */
const HEADROOM = 0.8

interface Load {
  /** Asks at that rate for so long. */
  run(perSecond: number, seconds: number): Promise<{ readonly perSecond: number; readonly errors: number }>
}

/** The rate that was asked for, where this machine carries a quarter more for some seconds; else four fifths of what it carries. */
export async function carriedRate(load: Load, wanted: number): Promise<number> {
  const carries = async (rate: number): Promise<boolean> => {
    const { perSecond, errors } = await load.run(rate, STEP_S)
    return perSecond >= rate * KEPT_UP && errors === 0
  }
  const [first = 1] = STEPS
  for (let step = 0; step < WARM_UP_STEPS; step++) await carries(wanted * first)
  let carried = wanted * first
  // Other work on the machine spoil one try.
  for (const step of STEPS) {
    if (!(await carries(wanted * step)) && !(await carries(wanted * step))) break
    carried = wanted * step
  }
  const rate = Math.round(Math.min(wanted, carried * HEADROOM))
  if (rate < wanted) console.log(`this machine does not carry ${wanted} a second: ${rate} are asked for`)
  return rate
}
