import { isDisputed } from '../../region/codes.ts'
import { UNKNOWN_REGIONS } from '../../values/region.ts'
import { closedFaults, type Fault, unknown } from '../language/fault.ts'
import type { Rule } from '../policy.ts'
import { listNamedRegions } from '../words/region.ts'
import { isCounting } from './counts-by-user.ts'

/** Returns the faults of a rule's `unknown`, and of the status of its response. */
export function regionFaults(rule: Rule): readonly Fault[] {
  return [...unknownFaults(rule), ...statusFaults(rule)]
}

function unknownFaults(rule: Rule): readonly Fault[] {
  const { unknown: wish } = rule
  const words = UNKNOWN_REGIONS.join(' or ')
  if (!readsRegion(rule)) {
    return wish === undefined ? [] : [{ path: ['unknown'], message: 'applies only to rules with match.region' }]
  }
  if (wish === undefined) {
    const message = `a rule with match.region must say whether it matches if the region is unknown, as for VPNs and mobile networks. Add unknown: ${words}`
    return [{ path: ['unknown'], message }]
  }
  return closedFaults([[['unknown'], wish, UNKNOWN_REGIONS]])
}

function statusFaults(rule: Rule): readonly Fault[] {
  const { status, action } = rule
  if (status === undefined) return []
  if (status !== 451) return [{ path: ['status'], message: `${unknown(status)}: expected 451, or no status for a 403` }]
  if (action !== 'block') return [{ path: ['status'], message: 'applies only to the action block' }]
  if (!isCounting(rule)) return []
  return [{ path: ['status'], message: 'a rule with a limit cannot have a status. Remove status or the limit' }]
}

export function readsRegion({ match }: Pick<Rule, 'match'>): boolean {
  return match.region !== undefined || match.not?.region !== undefined
}

/** Warns of rules whose choice for unknown regions is probably a mistake. */
export function regionWarnings(rule: Rule): readonly Fault[] {
  const { match, unknown: wish, action } = rule
  const path = ['unknown']
  if (wish === 'ignore' && match.region !== undefined && listNamedRegions(match.region).every(isDisputed)) {
    const message = 'the rule never matches, because no data covers these regions. Use unknown: match, and add country'
    return [{ path, message }]
  }
  const isWide = match.country === undefined && !isCounting(rule)
  if (wish !== 'match' || match.region === undefined || action !== 'block' || !isWide) return []
  const message =
    'the rule blocks every client whose region is unknown, worldwide, including mobile networks and servers. Add country'
  return [{ path, message }]
}
