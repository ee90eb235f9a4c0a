import type { FeatureConfig } from '#service'
import type { LocatedFault } from '#settings'
import type { keys } from './keys.ts'
import { targetWarning } from './target.ts'

/** Places that are there twice: each would be notified twice. */
export function notifyFaults({ notify }: FeatureConfig<typeof keys>): readonly LocatedFault[] {
  return notify.flatMap(({ url }, at) =>
    notify.findIndex((other) => other.url === url) === at
      ? []
      : [{ path: ['notify', at, 'url'], message: 'is listed twice. Merge the events into one entry' }],
  )
}

/** Places that are allowed and most likely not meant. */
export function notifyWarnings({ notify, net }: FeatureConfig<typeof keys>): readonly LocatedFault[] {
  const closed = notify.length > 0 && !net.outbound ? [{ path: ['notify'], message: 'needs net.outbound: true' }] : []
  const found = notify.flatMap((place, at) => {
    const warning = targetWarning(place)
    return warning === undefined ? [] : [{ path: ['notify', at, warning.member], message: warning.message }]
  })
  return [...closed, ...found]
}
