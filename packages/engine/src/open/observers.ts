import type { Observe } from '@sallyport/core'
import type { Metrics } from '#metrics'
import type { TallyKeeper } from '#tally'

/** One observer of all: a request is counted last, so that what they read of the counts is what came before it. */
export function observers(
  { observe: count }: Metrics,
  tally: Pick<TallyKeeper, 'observe'>,
  ...some: readonly (Observe | undefined)[]
): Observe {
  const all = some.filter((observe) => observe !== undefined)
  return (observed) => {
    try {
      for (const observe of all) observe(observed)
    } finally {
      const row = count(observed)
      if (row !== undefined) tally.observe(observed, row)
    }
  }
}
