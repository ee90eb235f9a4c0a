import type { Policy } from '../policy.ts'
import { rulesInForce } from '../presets/rules-in-force.ts'

/**
 * The rules whose flag stops nothing, by their ids; `default` where that flags. Signs that weigh and rules on trial are none,
 * and none is where flags are strikes.
 */
export function flaggingRules(policy: Policy): readonly string[] {
  if (policy.strikes?.on.includes('flagged')) return []
  const rules = rulesInForce(policy).filter(
    ({ action, weight, monitor = false }) => action === 'flag' && weight === undefined && !monitor,
  )
  return [...rules.map(({ id }) => id), ...(policy.default === 'flag' ? ['default'] : [])]
}
