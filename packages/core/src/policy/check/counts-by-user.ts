import { STRIKES_RULE } from '../../counting/strikes.ts'
import type { Policy, Rule } from '../policy.ts'

/** Lists the rules that count by the application's own user, by their ids; `strikes` if bans do. */
export function countsByUser({ rules, strikes }: Pick<Policy, 'rules' | 'strikes'>): readonly string[] {
  const ids = rules.filter(byUser).map(({ id }) => id)
  return strikes?.key === 'user' ? [...ids, STRIKES_RULE] : ids
}

function byUser({ limit, concurrent }: Rule): boolean {
  return [limit?.key, typeof concurrent === 'object' ? concurrent.key : undefined].flat().includes('user')
}
