import { STRIKES_RULE } from '../../counting/strikes.ts'
import { type Fault, type PolicyFault, ruleFaultsAt } from '../language/fault.ts'
import type { Policy, Rule } from '../policy.ts'
import { givenWords, type Match } from '../words/match-words.ts'
import { challengeWarnings } from './challenge-faults.ts'
import { countsByUser, isCounting } from './counts-by-user.ts'
import { mcpWarnings } from './mcp-warnings.ts'
import { neverWarnings } from './never-matches.ts'
import { regionWarnings } from './region-faults.ts'
import { bareClaims } from './rule-faults.ts'

/** Warns of rules that are valid and most likely a mistake, or that do more than they seem to. */
export function policyWarnings(policy: Policy): readonly PolicyFault[] {
  const { rules } = policy
  const warnEach = (find: (rule: Rule, index: number) => readonly Fault[]) =>
    rules.flatMap((rule, index) => ruleFaultsAt(index, rule, find(rule, index)))
  return [
    ...warnEach(openingWarnings),
    ...userWarnings(policy),
    ...unreachedWarnings(policy),
    ...warnEach((rule, index) => undoneWarnings(rule, rules[index + 1])),
    ...warnEach(createWeightWarnings()),
    ...[claimWarnings, challengeWarnings, regionWarnings, mcpWarnings, neverWarnings].flatMap(warnEach),
  ]
}

/** A proxy has no users, so a count by user never counts there. */
function userWarnings(policy: Policy): readonly PolicyFault[] {
  const message = 'the rule counts by user, which only an application with identify() knows. The proxy counts nothing'
  const named = new Set(countsByUser(policy))
  return [
    ...policy.rules.flatMap(({ id }, index) => (named.has(id) ? [{ path: ['rules', index], rule: id, message }] : [])),
    ...(named.has(STRIKES_RULE) ? [{ path: ['strikes', 'key'], message }] : []),
  ]
}

/** Warns of a rule that allows everything; both families of addresses together are everything too. */
function openingWarnings({ match, action, then, monitor }: Rule): readonly Fault[] {
  const allows = monitor !== true && (action === 'allow' || then === 'allow')
  if (!allows || !matchesAll(match, ['address'])) return []
  return [{ path: [], message: 'the rule allows every request, so later rules and the preset never decide' }]
}

/** Warns of rules after the first that refuses every request; a rule that allows every request has its own warning. */
function unreachedWarnings({ rules, limits = [] }: Policy): readonly PolicyFault[] {
  const first = rules.findIndex((rule) => decides(rule) && matchesAll(rule.match))
  const rule = rules[first]
  if (rule === undefined || rule.action === 'allow' || rule.then === 'allow') return []
  const message = `no request reaches this rule, because the earlier rule "${rule.id}" matches every request`
  const after = rules.slice(first + 1)
  return [
    ...after.map(({ id }, at): PolicyFault => ({ path: ['rules', first + 1 + at], rule: id, message })),
    ...limits.map((_, at): PolicyFault => ({ path: ['limits', at], message })),
  ]
}

/** Reports whether a rule decides every request that it matches, so that none reaches the rules after it. */
function decides(rule: Rule): boolean {
  const { action, monitor, weight, then, onError } = rule
  const leaves = ['flag', 'challenge', 'redirect'].includes(action) || onError === 'flag' || weight !== undefined
  return !leaves && monitor !== true && (!isCounting(rule) || then === 'allow')
}

/** Words with these values exclude no request. */
const WIDEST: Readonly<Record<string, readonly string[]>> = { path: ['/**'], address: ['0.0.0.0/0', '::/0'] }

function matchesAll(match: Match, words: readonly string[] = []): boolean {
  return givenWords(match).every(
    ({ name, value }) =>
      ['path', ...words].includes(name) && WIDEST[name]?.every((one) => (value as readonly string[]).includes(one)),
  )
}

/** Warns of a limit before a block of the same requests: within a limit the rules after it decide. */
function undoneWarnings(rule: Rule, next: Rule | undefined): readonly Fault[] {
  const { match, monitor, then } = rule
  if (!isCounting(rule) || monitor === true || then === 'allow' || next === undefined) return []
  if (next.action !== 'block' || !decides(next) || next.then === 'allow') return []
  if (matchText(next.match) !== matchText(match)) return []
  const message = `the later rule "${next.id}" blocks every request that this rule counts, even within the limit. Add then: allow to allow requests within the limit (crawlers only if verified)`
  return [{ path: [], message }]
}

function matchText(match: Match): string {
  const given = givenWords(match).map(({ name, value }): readonly [string, unknown] => [name, value])
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Warns of a sum of weights that the rules before never reach. */
function createWeightWarnings() {
  let weighed = 0
  return ({ match, monitor, weight = 0 }: Rule): readonly Fault[] => {
    const before = weighed
    if (monitor !== true) weighed += weight
    if ((match.weight?.atLeast ?? 0) <= before) return []
    const sum = before === 0 ? 'no earlier rule has a weight' : `earlier weights add up to at most ${before}`
    return [{ path: ['match', 'weight', 'atLeast'], message: `never matches: ${sum}` }]
  }
}

/** Warns of intended permissions by a mere claim too, so that no reader overlooks them. */
function claimWarnings(rule: Rule): readonly Fault[] {
  const claims = rule.trustClaim === true ? bareClaims(rule, givenWords(rule.match)).map(({ name }) => name) : []
  if (claims.length === 0) return []
  const message = `the rule allows by an unverified claim: nothing verifies ${claims.join(' and ')}`
  return [{ path: ['trustClaim'], message }]
}
