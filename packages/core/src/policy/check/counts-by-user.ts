import { STRIKES_RULE } from '../../counting/strikes.ts'
import type { CountKey } from '../../values/counting.ts'
import type { Policy, Rule } from '../policy.ts'

/** Lists the rules that count by the application's own user, by their ids; `strikes` if bans do. */
export function countsByUser({ rules, strikes }: Pick<Policy, 'rules' | 'strikes'>): readonly string[] {
  const ids = rules.filter((rule) => listCountKeys(rule).includes('user')).map(({ id }) => id)
  return strikes?.key === 'user' ? [...ids, STRIKES_RULE] : ids
}

export function listCountKeys(rule: Pick<Rule, 'limit' | 'concurrent'>): readonly CountKey[] {
  return [rule.limit?.key ?? [], readFlights(rule)?.key ?? []].flat()
}

/** Returns the bound of requests in flight; without a key, of all together. */
export function readFlights({ concurrent }: Pick<Rule, 'concurrent'>) {
  return typeof concurrent === 'number' ? { key: [], max: concurrent } : concurrent
}

export function isCounting({ limit, concurrent }: Pick<Rule, 'limit' | 'concurrent'>): boolean {
  return limit !== undefined || concurrent !== undefined
}
