import { STRIKES_RULE } from '../../counting/strikes.ts'
import type { CountKey } from '../../values/counting.ts'
import type { Policy, Rule } from '../policy.ts'

/** Lists the rules that count by the application's own user, by their ids; `strikes` if bans do. */
export function countsByUser({ rules, strikes }: Pick<Policy, 'rules' | 'strikes'>): readonly string[] {
  const ids = rules.filter((rule) => listCountKeys(rule).includes('user')).map(({ id }) => id)
  return strikes?.key === 'user' ? [...ids, STRIKES_RULE] : ids
}

export function listCountKeys({ limit, concurrent }: Rule): readonly CountKey[] {
  return [limit?.key ?? [], typeof concurrent === 'object' ? concurrent.key : []].flat()
}
