import { STRIKES_RULE } from '../../counting/strikes.ts'
import type { PolicyFault } from '../language/fault.ts'
import type { Policy, Rule } from '../policy.ts'
import { givenWords, type Match } from '../words/match-words.ts'
import { challengeWarnings } from './challenge-warnings.ts'
import { countsByUser } from './counts-by-user.ts'
import { mcpWarnings } from './mcp-warnings.ts'
import { neverWarnings } from './never-matches.ts'
import { regionWarnings } from './region-faults.ts'
import { bareClaims } from './rule-faults.ts'

/** Warns of rules that are valid and most likely a mistake, or that do more than they seem to. */
export function policyWarnings(policy: Policy): readonly PolicyFault[] {
  const { rules } = policy
  return [
    ...rules.flatMap(openingWarnings),
    ...userWarnings(policy),
    ...unreachedWarnings(policy),
    ...rules.flatMap(undoneWarnings),
    ...weightWarnings(rules),
    ...rules.flatMap(claimWarnings),
    ...rules.flatMap(challengeWarnings),
    ...rules.flatMap(regionWarnings),
    ...rules.flatMap(mcpWarnings),
    ...rules.flatMap(neverWarnings),
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
function openingWarnings({ id, match, action, then, monitor }: Rule, index: number): readonly PolicyFault[] {
  const allows = monitor !== true && (action === 'allow' || then === 'allow')
  if (!allows || !matchesAll(match, ['address'])) return []
  const message = 'the rule allows every request, so later rules and the preset never decide'
  return [{ path: ['rules', index], rule: id, message }]
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
function decides({ action, monitor, weight, limit, concurrent, then, onError }: Rule): boolean {
  const leaves = ['flag', 'challenge', 'redirect'].includes(action) || onError === 'flag' || weight !== undefined
  return !leaves && monitor !== true && ((limit ?? concurrent) === undefined || then === 'allow')
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
function undoneWarnings(rule: Rule, index: number, rules: readonly Rule[]): readonly PolicyFault[] {
  const { id, match, monitor, limit, concurrent, then } = rule
  const next = rules[index + 1]
  if ((limit ?? concurrent) === undefined || monitor === true || then === 'allow' || next === undefined) return []
  if (next.action !== 'block' || !decides(next) || next.then === 'allow') return []
  if (matchText(next.match) !== matchText(match)) return []
  const message = `the later rule "${next.id}" blocks every request that this rule counts, even within the limit. Add then: allow to allow requests within the limit (crawlers only if verified)`
  return [{ path: ['rules', index], rule: id, message }]
}

function matchText(match: Match): string {
  const given = givenWords(match).map(({ name, value }): readonly [string, unknown] => [name, value])
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Warns of a sum of weights that the rules before never reach. */
function weightWarnings(rules: readonly Rule[]): readonly PolicyFault[] {
  let weighed = 0
  return rules.flatMap(({ id, match, monitor, weight = 0 }, index) => {
    const before = weighed
    if (monitor !== true) weighed += weight
    if ((match.weight?.atLeast ?? 0) <= before) return []
    const sum = before === 0 ? 'no earlier rule has a weight' : `earlier weights add up to at most ${before}`
    return [{ path: ['rules', index, 'match', 'weight', 'atLeast'], rule: id, message: `never matches: ${sum}` }]
  })
}

/** Warns of intended permissions by a mere claim too, so that no reader overlooks them. */
function claimWarnings(rule: Rule, index: number): readonly PolicyFault[] {
  const claims = rule.trustClaim === true ? bareClaims(rule, givenWords(rule.match)).map(({ name }) => name) : []
  if (claims.length === 0) return []
  const message = `the rule allows by an unverified claim: nothing verifies ${claims.join(' and ')}`
  return [{ path: ['rules', index, 'trustClaim'], rule: rule.id, message }]
}
