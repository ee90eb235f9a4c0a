import { type Fault, unknown } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import type { Rule } from '../policy.ts'
import type { GivenWord } from '../words/word-test.ts'
import { isCounting } from './counts-by-user.ts'

const MAX_WEIGHT = 1_000

/** A claim beside one of these words is not alone: each is proven, looked up, or named by the application. */
const PROOFS: readonly string[] = [
  'address',
  'identity',
  'crawler',
  'operator',
  'vendor',
  'purpose',
  'user',
  'plan',
  'pass',
]

/** Returns the fault of a permission that rests only on unproven claims. */
export function claimFaults(rule: Rule, given: readonly GivenWord[]): readonly Fault[] {
  const [claim] = rule.trustClaim === true ? [] : bareClaims(rule, given)
  if (claim === undefined) return []
  const message =
    'clients can forge this, so an allow rule may not rely on it alone. Add a verified condition, or set trustClaim: true'
  return [{ path: ['match', claim.name], message }]
}

/** Returns the claims that a permission rests on, where no other word of it is proven. */
export function bareClaims({ action, then, unknown: wish }: Rule, given: readonly GivenWord[]): readonly GivenWord[] {
  if (action !== 'allow' && then !== 'allow') return []
  const isProven = ({ name, word, value }: GivenWord) =>
    PROOFS.includes(name) ||
    word.asks === 'asn' ||
    word.asks === 'geo' ||
    // An unknown region, as of a VPN, proves nothing.
    (name === 'region' && wish === 'ignore') ||
    (name === 'crawlerOutcome' && Array.isArray(value) && value.every((outcome) => outcome === 'verified'))
  return given.some(isProven) ? [] : given.filter(({ word, value }) => word.claim && demandsText(value))
}

/** Reports whether a value requires anything: `header: {}` does not. */
function demandsText(value: unknown): boolean {
  return Array.isArray(value) || Object.values(value as object).flat().length > 0
}

export function weightFaults(rule: Rule): readonly Fault[] {
  const { weight, action } = rule
  if (weight === undefined) return []
  if (!(weight > 0 && weight <= MAX_WEIGHT)) {
    return [{ path: ['weight'], message: `${unknown(weight)}: expected a number above 0 and up to ${MAX_WEIGHT}` }]
  }
  if (action === 'flag' && !isCounting(rule)) return []
  const message = 'a rule with a weight needs the action flag and no limit. Rules with match.weight decide'
  return [{ path: ['weight'], message }]
}

/** Returns the faults of lists that a value of a match names and the configuration does not. */
export function listFaults(value: unknown, path: Fault['path'], lists: ReadonlySet<string>): readonly Fault[] {
  const name = typeof value === 'string' ? listName(value) : undefined
  if (name !== undefined && !lists.has(name)) {
    const known = lists.size > 0 ? `. Use one of ${[...lists].join(', ')}` : ' in lists'
    return [{ path, message: `there is no list "${name}"${known}` }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, inner]) =>
    listFaults(inner, [...path, Array.isArray(value) ? Number(member) : member], lists),
  )
}
