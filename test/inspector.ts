import { compilePolicy, createInspector, type Policy, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'

/** Creates an inspector that enforces a policy, over no data and by a clock that stands still, unless `more` says otherwise. */
export function makeInspector(policy: Policy, more: Partial<Parameters<typeof createInspector>[0]> = {}) {
  return createInspector({
    clock: createFakeClock('2026-11-28T12:00:00Z'),
    snapshots: makeSnapshots(),
    trust: parseTrust([]),
    policy: compilePolicy(policy),
    mode: 'enforce',
    ...more,
  })
}
