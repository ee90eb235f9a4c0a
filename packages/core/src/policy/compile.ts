import { AI_TOKENS } from '@sallyport/data/automation'
import { CRAWLERS } from '@sallyport/data/crawlers'
import { parseAddress } from '../address/address.ts'
import { parsePrefix, prefixOf } from '../address/prefix.ts'
import { createPrefixSet, type PrefixSet } from '../address/prefix-set.ts'
import { SallyportError } from '../errors.ts'
import { isCountry } from '../geo/country.ts'
import { AGENT_BASES } from '../values/agent-verdict.ts'
import {
  ACTIONS,
  type Action,
  AGENT_CLASSES,
  CRAWLER_OUTCOMES,
  CRAWLER_PURPOSES,
  NETWORK_CLASSES,
} from '../vocabulary.ts'
import type { CompiledRule, MatchedRule } from './evaluate.ts'
import { compileMatch } from './match.ts'
import { readPath } from './path-readings.ts'
import type { Match, Policy, Rule } from './policy.ts'
import { PRESET_NAMES } from './policy.ts'
import { PRESETS } from './presets.ts'
import { compileSpan } from './time-span.ts'

/** A checked policy, ready to be asked once per request. */
export interface CompiledPolicy {
  /** Addresses that are allowed before any rule; absent when there are none. */
  readonly allowlist?: PrefixSet
  /** What is decided when the inspection itself fails. */
  readonly onError: Action
  /** In the order in which they are asked. */
  readonly rules: readonly CompiledRule[]
  /** What is decided where no rule matches. */
  readonly fallback: MatchedRule
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
  for (const member of ['default', 'onError'] as const) {
    const action = policy[member]
    if (action !== undefined && !ACTIONS.includes(action)) {
      throw new SallyportError('invalid_policy', `policy.${member}: ${JSON.stringify(action)} is unknown`)
    }
  }
  const { allowlist = [] } = policy
  return {
    ...(allowlist.length > 0 && { allowlist: createPrefixSet(allowlist.map(allowlistPrefix)) }),
    onError: policy.onError ?? 'allow',
    rules: [...policy.rules, ...PRESETS[policy.preset]].map(compileRule),
    fallback: defaultRule(policy.default ?? 'allow'),
  }
}

function allowlistPrefix(entry: string) {
  const address = parseAddress(entry)
  const prefix = address === undefined ? parsePrefix(entry) : prefixOf(address, address.family === 4 ? 32 : 128)
  if (prefix === undefined) {
    throw new SallyportError('invalid_policy', `policy.allowlist: "${entry}" is not an address or a CIDR range`)
  }
  return prefix
}

function defaultRule(action: Action): MatchedRule {
  const text =
    action === 'allow'
      ? 'No rule of the policy speaks of this request.'
      : 'No rule of the policy speaks of this request, and its default decides.'
  return Object.freeze({ id: 'default', action, reason: Object.freeze({ id: 'policy:default', text }) })
}

function compileRule(rule: Rule): CompiledRule {
  checkRule(rule)
  const { onError } = rule
  const { data, needs, agent, request } = compileMatch(rule.match, rule.action)
  const matched = matchedRule(rule, rule.action, `The policy's rule "${rule.id}" matches.`)
  const compiled = { onTrial: rule.monitor === true, data, agent, request, matched }
  if (onError === undefined || needs.length === 0) return compiled
  const text = `The policy's rule "${rule.id}" asks about data that is not loaded.`
  return { ...compiled, unanswered: { needs, matched: matchedRule(rule, onError, text) } }
}

function matchedRule({ id }: Rule, action: Action, text: string): MatchedRule {
  return Object.freeze({ id, action, reason: Object.freeze({ id: `policy:${id}`, text }) })
}

/** The words of the members that have a closed list. */
const WORDS: Readonly<Partial<Record<keyof Match, readonly string[]>>> = {
  networkClass: NETWORK_CLASSES,
  class: AGENT_CLASSES,
  basis: AGENT_BASES,
  crawlerOutcome: CRAWLER_OUTCOMES,
  purpose: CRAWLER_PURPOSES,
  crawler: CRAWLERS.map(({ slug }) => slug),
  operator: CRAWLERS.map(({ operator }) => operator),
}

const SLUGS: ReadonlySet<string> = new Set(CRAWLERS.map(({ slug }) => slug))
const VENDORS: ReadonlySet<string> = new Set(
  [...CRAWLERS.map(({ operator }) => operator), ...AI_TOKENS.map(({ vendor }) => vendor)].map((name) =>
    name.toLowerCase(),
  ),
)

/** A method or the name of a header (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** The identifier of a signature agent as verdicts write it: a URL without query, an origin without a slash. */
function isIdentifier(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, pathname } = new URL(text)
  return text === origin + (pathname === '/' ? '' : pathname)
}

/** Whether a pattern can match at all: it is written as canonical paths are, and `**` is its last segment. */
function isPathPattern(path: string): boolean {
  const segments = path.split('/')
  return readPath(path).path === path && !segments.slice(0, -1).includes('**')
}

function checkRule({ id, match, action, onError }: Rule): void {
  const refuse = (member: string, value: unknown): never => {
    throw new SallyportError('invalid_policy', `policy rule "${id}": ${member}: ${JSON.stringify(value)} is unknown`)
  }
  if (!ACTIONS.includes(action)) refuse('action', action)
  if (onError !== undefined && !ACTIONS.includes(onError)) refuse('onError', onError)
  for (const [member, words] of Object.entries(WORDS)) {
    const given = match[member as keyof Match]
    for (const word of Array.isArray(given) ? given : []) if (!words.includes(word)) refuse(member, word)
  }
  for (const code of match.country ?? []) if (code !== 'unknown' && !isCountry(code)) refuse('country', code)
  for (const name of match.provider ?? []) if (name.trim() === '') refuse('provider', name)
  for (const asn of match.asn ?? []) if (!Number.isInteger(asn) || asn < 0) refuse('asn', asn)
  for (const path of match.path ?? []) if (!isPathPattern(path)) refuse('path', path)
  for (const name of match.method ?? []) if (!TOKEN.test(name)) refuse('method', name)
  for (const bound of ['present', 'absent'] as const) {
    for (const name of match.header?.[bound] ?? []) if (!TOKEN.test(name)) refuse(`header.${bound}`, name)
  }
  // A rule with a word that nothing ever has would stop nothing.
  for (const name of match.vendor ?? [])
    if (!VENDORS.has(name.toLowerCase()) && !isIdentifier(name)) refuse('vendor', name)
  for (const name of match.identity ?? []) {
    if (name !== '*' && !SLUGS.has(name) && !isIdentifier(name)) refuse('identity', name)
  }
  for (const bound of ['atLeast', 'atMost'] as const) {
    const value = match.confidence?.[bound]
    if (value !== undefined && !(value >= 0 && value <= 1)) refuse(`confidence.${bound}`, value)
  }
  if (match.time !== undefined) {
    const span = compileSpan(match.time)
    if (typeof span === 'string') refuse(`time.${span}`, match.time[span])
  }
}
