import { type Fault, unknown } from '../language/fault.ts'
import { listName } from '../language/surroundings.ts'
import type { Rule } from '../policy.ts'
import type { GivenWord } from '../words/word-test.ts'

const MAX_WEIGHT = 1_000

/** Words beside which a claim is not alone: each is proven, looked up, or said by the application. */
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

/** A permission that rests on what the client merely says alone. */
export function claimFaults(rule: Rule, given: readonly GivenWord[]): readonly Fault[] {
  const [claim] = rule.trustClaim === true ? [] : bareClaims(rule, given)
  if (claim === undefined) return []
  const message =
    'anybody can write it, so a rule that allows may not rest on it alone; set trustClaim: true to allow that'
  return [{ path: ['match', claim.name], message }]
}

/** The claims that a permission rests on, where nothing else of it is proven. */
export function bareClaims({ action, then }: Rule, given: readonly GivenWord[]): readonly GivenWord[] {
  if (action !== 'allow' && then !== 'allow') return []
  const isProven = ({ name, word, value }: GivenWord) =>
    PROOFS.includes(name) ||
    word.asks === 'asn' ||
    word.asks === 'geo' ||
    (name === 'crawlerOutcome' && Array.isArray(value) && value.every((outcome) => outcome === 'verified'))
  return given.some(isProven) ? [] : given.filter(({ word, value }) => word.claim && demandsText(value))
}

/** Whether a value asks for anything: `header: {}` does not. */
function demandsText(value: unknown): boolean {
  return Array.isArray(value) || Object.values(value as object).flat().length > 0
}

export function weightFaults({ weight, action, limit, concurrent }: Rule): readonly Fault[] {
  if (weight === undefined) return []
  if (!(weight > 0 && weight <= MAX_WEIGHT)) {
    return [{ path: ['weight'], message: `${unknown(weight)}: expected a number above 0, to ${MAX_WEIGHT}` }]
  }
  const counts = limit !== undefined || concurrent !== undefined
  if (action === 'flag' && !counts) return []
  return [
    {
      path: ['weight'],
      message: 'a rule with a weight has the action flag and no limit: rules with match.weight decide',
    },
  ]
}

/** Lists that a match names and the configuration does not. */
export function listFaults(given: readonly GivenWord[], lists: ReadonlySet<string>): readonly Fault[] {
  return given.flatMap(({ name, value }) => unknownLists(value, [name], lists))
}

function unknownLists(
  value: unknown,
  path: readonly (string | number)[],
  lists: ReadonlySet<string>,
): readonly Fault[] {
  if (typeof value === 'string') {
    const name = listName(value)
    if (name === undefined || lists.has(name)) return []
    return [
      {
        path: ['match', ...path],
        message: `no list "${name}"${lists.size > 0 ? `: ${[...lists].join(', ')}` : ' in lists'}`,
      },
    ]
  }
  if (Array.isArray(value)) return value.flatMap((entry, index) => unknownLists(entry, [...path, index], lists))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, inner]) => unknownLists(inner, [...path, member], lists))
}
