import type { Policy } from '../policy.ts'
import { rulesInForce } from '../presets/presets.ts'

/**
 * Lists the rules whose flag stops nothing, by their ids; `default` where that flags. Rules that weigh and rules on trial are left out, and
 * none is listed where flags are strikes.
 */
export function flaggingRules(policy: Policy): readonly string[] {
  if (policy.strikes?.on.includes('flagged')) return []
  const rules = rulesInForce(policy).filter(
    ({ action, weight, monitor = false }) => action === 'flag' && weight === undefined && !monitor,
  )
  return [...rules.map(({ id }) => id), ...(policy.default === 'flag' ? ['default'] : [])]
}
