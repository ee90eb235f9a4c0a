import { STRIKES_RULE } from '../../counting/strikes.ts'
import type { PolicyFault } from '../language/fault.ts'
import type { Policy, Rule } from '../policy.ts'
import { givenWords, type Match } from '../words/match-words.ts'
import { challengeWarnings } from './challenge-warnings.ts'
import { countsByUser } from './counts-by-user.ts'
import { bareClaims } from './rule-faults.ts'

/** Rules that are allowed and most likely not meant, or that mean more than they seem to. */
export function policyWarnings(policy: Policy): readonly PolicyFault[] {
  const { rules } = policy
  return [
    ...rules.flatMap(openingWarnings),
    ...userWarnings(policy),
    ...unreachedWarnings(policy),
    ...rules.flatMap(undoneWarnings),
    ...rules.flatMap(costWarnings),
    ...weightWarnings(rules),
    ...rules.flatMap(claimWarnings),
    ...rules.flatMap(shareWarnings),
    ...rules.flatMap(challengeWarnings),
  ]
}

/** A proxy has no users: what counts by them never counts there. */
function userWarnings(policy: Policy): readonly PolicyFault[] {
  const message = 'it counts by user, which only an application with identify() knows: the proxy counts nothing'
  const named = new Set(countsByUser(policy))
  return [
    ...policy.rules.flatMap(({ id }, index) => (named.has(id) ? [{ path: ['rules', index], rule: id, message }] : [])),
    ...(named.has(STRIKES_RULE) ? [{ path: ['strikes', 'key'], message }] : []),
  ]
}

/** A rule that allows everything; both families of addresses are everything too. */
function openingWarnings({ id, match, action, then, monitor }: Rule, index: number): readonly PolicyFault[] {
  const allows = monitor !== true && (action === 'allow' || then === 'allow')
  if (!allows || !matchesAll(match, ['address'])) return []
  const message = 'it matches every request and allows it, so no rule after it and none of the preset ever decides'
  return [{ path: ['rules', index], rule: id, message }]
}

/** Rules after the first that refuses every request; one that allows every request has its own warning. */
function unreachedWarnings({ rules, limits = [] }: Policy): readonly PolicyFault[] {
  const first = rules.findIndex((rule) => decides(rule) && matchesAll(rule.match))
  const rule = rules[first]
  if (rule === undefined || rule.action === 'allow' || rule.then === 'allow') return []
  const message = `no request reaches it: the rule "${rule.id}" before it matches every request`
  const after = rules.slice(first + 1)
  return [
    ...after.map(({ id }, at): PolicyFault => ({ path: ['rules', first + 1 + at], rule: id, message })),
    ...limits.map((_, at): PolicyFault => ({ path: ['limits', at], message })),
  ]
}

/** Whether a rule leaves none of the requests that it matches to the rules after it. */
function decides({ action, monitor, weight, limit, concurrent, then, onError }: Rule): boolean {
  const leaves = ['flag', 'challenge', 'redirect'].includes(action) || onError === 'flag' || weight !== undefined
  return !leaves && monitor !== true && ((limit ?? concurrent) === undefined || then === 'allow')
}

/** Widest values of words that leave no request out. */
const WIDEST: Readonly<Record<string, readonly string[]>> = { path: ['/**'], address: ['0.0.0.0/0', '::/0'] }

function matchesAll(match: Match, words: readonly string[] = []): boolean {
  return givenWords(match).every(
    ({ name, value }) =>
      ['path', ...words].includes(name) && WIDEST[name]?.every((one) => (value as readonly string[]).includes(one)),
  )
}

/** A limit before a block of the same requests: within a limit the rules after it decide. */
function undoneWarnings(rule: Rule, index: number, rules: readonly Rule[]): readonly PolicyFault[] {
  const { id, match, monitor, limit, concurrent, then } = rule
  const next = rules[index + 1]
  if ((limit ?? concurrent) === undefined || monitor === true || then === 'allow' || next === undefined) return []
  if (next.action !== 'block' || !decides(next) || next.then === 'allow') return []
  if (matchText(next.match) !== matchText(match)) return []
  const message = `the rule "${next.id}" after it blocks all that it counts, within the limit too; with then: allow it allows requests within the limit, crawlers only if they are proven`
  return [{ path: ['rules', index], rule: id, message }]
}

/** A match in one order of its words. */
function matchText(match: Match): string {
  const given = givenWords(match).map(({ name, value }): readonly [string, unknown] => [name, value])
  return JSON.stringify(given.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** A sum of weights that the rules before never come to. */
function weightWarnings(rules: readonly Rule[]): readonly PolicyFault[] {
  let weighed = 0
  return rules.flatMap(({ id, match, monitor, weight = 0 }, index) => {
    const before = weighed
    if (monitor !== true) weighed += weight
    if ((match.weight?.atLeast ?? 0) <= before) return []
    const sum = before === 0 ? 'no rule before it has a weight' : `the weights before it come to ${before} at most`
    return [{ path: ['rules', index, 'match', 'weight', 'atLeast'], rule: id, message: `it never matches: ${sum}` }]
  })
}

/** Permissions by a mere claim are meant, and yet said, so that nobody overlooks them. */
function claimWarnings(rule: Rule, index: number): readonly PolicyFault[] {
  const claims = rule.trustClaim === true ? bareClaims(rule, givenWords(rule.match)).map(({ name }) => name) : []
  if (claims.length === 0) return []
  const message = `it allows by an unproven claim: nothing proves ${claims.join(' and ')}`
  return [{ path: ['rules', index, 'trustClaim'], rule: rule.id, message }]
}

/** A limit that no single request keeps to; a cost by method or path may be meant to shut that out. */
function costWarnings({ id, limit, cost }: Rule, index: number): readonly PolicyFault[] {
  if (limit === undefined || typeof cost !== 'number') return []
  const room = limit.burst ?? limit.max
  if (cost <= room) return []
  const message = `one request costs ${cost} of ${room}: the first is beyond the limit already`
  return [{ path: ['rules', index, 'cost'], rule: id, message }]
}

function shareWarnings({ id, match: { share }, limit, concurrent }: Rule, index: number): readonly PolicyFault[] {
  if (share === undefined || (limit ?? concurrent) === undefined) return []
  const message = `its limit is for ${share * 100} % of the clients: it neither counts nor limits the others`
  return [{ path: ['rules', index, 'match', 'share'], rule: id, message }]
}
