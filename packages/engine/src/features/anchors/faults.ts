import type { FeatureConfig } from '#service'
import type { LocatedFault } from '#settings'
import type { keys } from './keys.ts'

/** Finds keys that have no effect. */
export function anchorWarnings({ ledger, net }: FeatureConfig<typeof keys>): readonly LocatedFault[] {
  const { timestamps, timestampCa, witnesses } = ledger
  const unused = 'has no effect without ledger.timestamps. Add an authority there'
  const closed = 'has no effect, because net.outbound is false. Remove one of them'
  return [
    ...(timestampCa !== undefined && timestamps.length === 0
      ? [{ path: ['ledger', 'timestampCa'], message: unused }]
      : []),
    ...Object.entries({ timestamps, witnesses }).flatMap(([key, asked]) =>
      net.outbound || asked.length === 0 ? [] : [{ path: ['ledger', key], message: closed }],
    ),
  ]
}
