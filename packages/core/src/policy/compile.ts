import { SallyportError } from '../errors.ts'
import { isCountryCode } from '../geo/country.ts'
import type { Reason } from '../inspection/decision.ts'
import type { Inspection } from '../inspection/inspection.ts'
import { ACTIONS, type Action, NETWORK_CLASSES } from '../vocabulary.ts'
import { parsePathPattern } from './path-pattern.ts'
import { type Match, type Policy, PRESET_NAMES, PRESETS, type Rule } from './policy.ts'

/** A checked policy, ready to be asked once per request. */
export interface CompiledPolicy {
  /** The first rule that matches; `undefined` when none does and the request is allowed. */
  firstMatch(inspection: Inspection): MatchedRule | undefined
}

export interface MatchedRule {
  readonly action: Action
  /** The sentence about this rule, made once. */
  readonly reason: Reason
}

/** Checks every word of a policy and compiles it; throws `invalid_policy` that names the rule and the member. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  if (!PRESET_NAMES.includes(policy.preset)) {
    throw new SallyportError(
      'invalid_policy',
      `policy.preset: no preset "${policy.preset}": ${PRESET_NAMES.join(', ')}`,
    )
  }
  const ids = new Set<string>()
  for (const rule of policy.rules) {
    if (ids.has(rule.id)) throw new SallyportError('invalid_policy', `policy.rules: the id "${rule.id}" occurs twice`)
    ids.add(rule.id)
  }
  const rules = [...policy.rules, ...PRESETS[policy.preset]].map(compileRule)
  return {
    firstMatch(inspection) {
      for (const rule of rules) if (rule.matches(inspection)) return rule
      return undefined
    },
  }
}

interface CompiledRule extends MatchedRule {
  matches(inspection: Inspection): boolean
}

function compileRule(rule: Rule): CompiledRule {
  const refuse = (member: string, value: unknown): never => {
    throw new SallyportError(
      'invalid_policy',
      `policy rule "${rule.id}": ${member}: ${JSON.stringify(value)} is unknown`,
    )
  }
  if (!ACTIONS.includes(rule.action)) refuse('action', rule.action)
  const { match } = rule
  for (const name of match.networkClass ?? []) if (!NETWORK_CLASSES.includes(name)) refuse('networkClass', name)
  for (const code of match.country ?? []) if (!isCountryCode(code)) refuse('country', code)
  for (const asn of match.asn ?? []) if (!Number.isInteger(asn) || asn < 0) refuse('asn', asn)
  for (const path of match.path ?? []) if (!path.startsWith('/')) refuse('path', path)
  const reason = Object.freeze({ id: `policy:${rule.id}`, text: `The policy's rule "${rule.id}" matches.` })
  return { action: rule.action, reason, matches: matcherOf(match, rule.action) }
}

/** Sets are built once; the order of the tests is by cost. */
function matcherOf(match: Match, action: Action): (inspection: Inspection) => boolean {
  const classes = match.networkClass === undefined ? undefined : new Set<string>(match.networkClass)
  const countries = match.country === undefined ? undefined : new Set(match.country)
  const asns = match.asn === undefined ? undefined : new Set(match.asn)
  const methods = match.method === undefined ? undefined : new Set(match.method.map((name) => name.toUpperCase()))
  const paths = match.path?.map(parsePathPattern)
  return ({ network, country, request }) => {
    if (classes !== undefined && !classes.has(network.verdict.classification)) return false
    if (asns !== undefined && (network.asn === undefined || !asns.has(network.asn))) return false
    if (countries !== undefined && (country === undefined || !countries.has(country))) return false
    if (methods !== undefined && !methods.has(request.method)) return false
    if (paths === undefined) return true
    // A path that is not canonical may mean another one to the origin: it earns no permission.
    if (action === 'allow' && !request.canonical) return false
    return paths.some((matches) => matches(request.path, action === 'allow'))
  }
}
