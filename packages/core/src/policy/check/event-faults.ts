import { EVENT_KEYS } from '../../values/counting.ts'
import type { Fault } from '../language/fault.ts'
import type { Rule } from '../policy.ts'
import { isAboutEvents } from '../words/match-words.ts'
import { listCountKeys } from './counts-by-user.ts'

/** Reports whether a rule is about events of accounts, and about no request: it matches or counts by facts that only events have. */
export function asksEvents(rule: Rule): boolean {
  return isAboutEvents(rule.match) || listCountKeys(rule).some((key) => EVENT_KEYS.includes(key))
}

export function eventFaults(rule: Rule): readonly Fault[] {
  const { action, limit, concurrent } = rule
  const { share } = limit ?? {}
  const faults: Fault[] = []
  if (share !== undefined && !(asksEvents(rule) && limit?.count === 'failure' && share > 0 && share < 1)) {
    faults.push({ path: ['limit', 'share'], message: 'above 0 and below 1, for failures of events' })
  }
  if (!asksEvents(rule)) return faults
  if (concurrent !== undefined) faults.push({ path: ['concurrent'], message: 'events are never in flight. Use limit' })
  if (limit?.count === 'page') faults.push({ path: ['limit', 'count'], message: 'events are not pages. Use failure' })
  if (limit?.failures !== undefined) {
    faults.push({ path: ['limit', 'failures'], message: 'events fail by outcome, not by status' })
  }
  if (action === 'redirect') faults.push({ path: ['action'], message: 'events cannot be redirected' })
  if (action === 'offer') faults.push({ path: ['action'], message: 'events cannot have a price' })
  return faults
}
