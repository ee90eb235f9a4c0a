import { STRIKES_RULE } from '../counting/strikes.ts'
import { challengeWarnings } from './challenge-warnings.ts'
import { countsByUser } from './counts-by-user.ts'
import { opens, type Spread, spreadsOf } from './coverage.ts'
import type { PolicyFault } from './fault.ts'
import { LIMIT_PRESETS } from './limit-presets.ts'
import { givenWords } from './match-words.ts'
import type { Policy, Rule } from './policy.ts'
import { bareClaims } from './rule-faults.ts'
import { undoneLimits } from './undone-limits.ts'
import { needlessRules, unreachedRules } from './unreached-rules.ts'

/** Rules that are allowed and most likely not meant, or that mean more than they seem to. */
export function policyWarnings(policy: Policy): readonly PolicyFault[] {
  const { rules, limits = [] } = policy
  const named = limits.map((name) => LIMIT_PRESETS[name])
  const spreads = spreadsOf([...rules, ...named.flat()])
  const own = spreads.slice(0, rules.length)
  const unreached = unreachedRules(spreads, rules.length, named)
  return [
    ...own.flatMap(openingWarnings),
    ...userWarnings(policy),
    ...unreached,
    ...needlessRules(own, new Set(unreached.map(({ rule }) => rule))),
    // A limit that no request reaches has another fault, which comes first.
    ...undoneLimits(policy).filter(({ rule }) => !unreached.some((one) => one.rule === rule)),
    ...rules.flatMap(costWarnings),
    ...own.flatMap(weightWarnings),
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

function openingWarnings(spread: Spread, index: number): readonly PolicyFault[] {
  if (!opens(spread)) return []
  const message = 'it matches every request and allows it, so no rule after it and none of the preset ever decides'
  return [{ path: ['rules', index], rule: spread.rule.id, message }]
}

/** A sum of weights that the rules before never come to. */
function weightWarnings(spread: Spread, index: number): readonly PolicyFault[] {
  const { rule, weighed } = spread
  const least = rule.match.weight?.atLeast ?? 0
  if (least <= weighed) return []
  const sum = weighed === 0 ? 'no rule before it has a weight' : `the weights before it come to ${weighed} at most`
  return [{ path: ['rules', index, 'match', 'weight', 'atLeast'], rule: rule.id, message: `it never matches: ${sum}` }]
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
