import type { Policy, Rule } from '../policy.ts'
import { LIMIT_PRESETS } from './limit-presets.ts'
import { PRESETS } from './presets.ts'

/** Lists the rules of a policy and of the presets that it names, in the order of evaluation. */
export function rulesInForce({ rules, limits = [], preset }: Policy): readonly Rule[] {
  return [...rules, ...limits.flatMap((name) => LIMIT_PRESETS[name]), ...PRESETS[preset]]
}
