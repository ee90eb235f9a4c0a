import { AI_TOKENS } from '@sallyport/data/automation'
import { CRAWLERS } from '@sallyport/data/crawlers'
import { parseAddress } from '../address/address.ts'
import { parsePrefix } from '../address/prefix.ts'
import { STRIKES_RULE } from '../counting/strikes.ts'
import { isCountry } from '../geo/country.ts'
import { nearestWord, suggestion } from '../nearest-word.ts'
import { AGENT_BASES } from '../values/agent-verdict.ts'
import {
  ACTIONS,
  AGENT_CLASSES,
  CRAWLER_OUTCOMES,
  CRAWLER_PURPOSES,
  NETWORK_CLASSES,
  PLAIN_ACTIONS,
} from '../vocabulary.ts'
import { countingFaults, type Fault, strikesFaults } from './counting-faults.ts'
import { countsByUser } from './counts-by-user.ts'
import { readPath } from './path-readings.ts'
import type { Match, Policy, Rule } from './policy.ts'
import { LIMIT_PRESET_NAMES, PRESET_NAMES } from './policy.ts'
import { compileSpan, DAYS } from './time-span.ts'

/** A word of a policy that cannot be meant. */
export interface PolicyFault {
  /** Where it is in the policy: `['rules', 0, 'match', 'country', 1]`. */
  readonly path: readonly (string | number)[]
  /** The id of its rule; absent outside of rules. */
  readonly rule?: string
  readonly message: string
}

/** Every fault of a policy, in the order in which it is written. */
export function policyFaults(policy: Policy): readonly PolicyFault[] {
  const { preset, rules, allowlist = [], limits = [], strikes } = policy
  const faults: PolicyFault[] = []
  if (!PRESET_NAMES.includes(preset)) {
    faults.push({ path: ['preset'], message: `no preset "${preset}": ${PRESET_NAMES.join(', ')}` })
  }
  const ids = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    if (ids.has(rule.id)) faults.push({ path: ['rules', index, 'id'], message: `the id "${rule.id}" occurs twice` })
    ids.add(rule.id)
    for (const { path, message } of ruleFaults(rule)) {
      faults.push({ path: ['rules', index, ...path], rule: rule.id, message })
    }
  }
  for (const member of ['default', 'onError'] as const) {
    const action = policy[member]
    if (action === undefined || PLAIN_ACTIONS.includes(action)) continue
    faults.push({ path: [member], ...oneOf(action, PLAIN_ACTIONS) })
  }
  for (const [index, name] of limits.entries()) {
    if (!LIMIT_PRESET_NAMES.includes(name)) faults.push({ path: ['limits', index], ...oneOf(name, LIMIT_PRESET_NAMES) })
  }
  for (const fault of strikes === undefined ? [] : strikesFaults(strikes)) {
    faults.push({ ...fault, path: ['strikes', ...fault.path] })
  }
  for (const [index, entry] of allowlist.entries()) {
    if (parseAddress(entry) !== undefined || parsePrefix(entry) !== undefined) continue
    faults.push({ path: ['allowlist', index], message: `"${entry}" is not an address or a CIDR range` })
  }
  return faults
}

/** What is meant by each rule, and most likely is not meant. */
export function policyWarnings(policy: Policy): readonly PolicyFault[] {
  return [...openingWarnings(policy), ...userWarnings(policy)]
}

/** A proxy has no users: what counts by them never counts there. */
function userWarnings(policy: Policy): readonly PolicyFault[] {
  const message = 'it counts by user, which only an application with identify() knows: the proxy never counts it'
  const named = countsByUser(policy)
  return [
    ...policy.rules.flatMap(({ id }, index) =>
      named.includes(id) ? [{ path: ['rules', index], rule: id, message }] : [],
    ),
    ...(named.includes(STRIKES_RULE) ? [{ path: ['strikes', 'key'], message }] : []),
  ]
}

function openingWarnings({ rules }: Policy): readonly PolicyFault[] {
  return rules.flatMap(({ id, match, action, then, monitor = false }, index) => {
    if ((action !== 'allow' && then !== 'allow') || monitor || !matchesAll(match)) return []
    const message = 'it matches every request and allows it, so no rule after it and none of the preset is ever asked'
    return [{ path: ['rules', index], rule: id, message }]
  })
}

/** Whether no request can fail a match. */
function matchesAll(match: Match): boolean {
  return Object.entries(match).every(([member, value]) => {
    if (value === undefined) return true
    const words = ALL_WORDS[member as keyof Match]
    if (words !== undefined && Array.isArray(value)) return words.every((word) => value.includes(word))
    if (member === 'path') return match.path?.includes('/**') === true
    if (member === 'header') return !match.header?.present?.length && !match.header?.absent?.length
    if (member === 'time') return match.time?.from === undefined && match.time?.to === undefined && !match.time?.days
    if (member !== 'confidence' && member !== 'networkConfidence') return false
    return (match[member]?.atLeast ?? 0) === 0 && (match[member]?.atMost ?? 1) === 1
  })
}

/** The members of which every request has one word. */
const ALL_WORDS: Readonly<Partial<Record<keyof Match, readonly string[]>>> = {
  networkClass: NETWORK_CLASSES,
  class: AGENT_CLASSES,
  basis: AGENT_BASES,
}

const SLUGS = CRAWLERS.map(({ slug }) => slug)
const OPERATORS = [...new Set(CRAWLERS.map(({ operator }) => operator))]
const VENDORS = [...new Set([...OPERATORS, ...AI_TOKENS.map(({ vendor }) => vendor)])]

/** The words of the members that have a closed list. */
const WORDS: Readonly<Partial<Record<keyof Match, readonly string[]>>> = {
  ...ALL_WORDS,
  crawlerOutcome: CRAWLER_OUTCOMES,
  purpose: CRAWLER_PURPOSES,
  crawler: SLUGS,
  operator: OPERATORS,
}

/** A method or the name of a header (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

function ruleFaults(rule: Rule): readonly Fault[] {
  const { match, action, onError } = rule
  const faults: Fault[] = [...countingFaults(rule, pathPatternFault)]
  if (!ACTIONS.includes(action)) faults.push({ path: ['action'], ...oneOf(action, ACTIONS) })
  if (onError !== undefined && !PLAIN_ACTIONS.includes(onError))
    faults.push({ path: ['onError'], ...oneOf(onError, PLAIN_ACTIONS) })
  for (const [member, given] of Object.entries(match)) {
    const words = WORDS[member as keyof Match]
    const check = words === undefined ? CHECKS[member as keyof Match] : (word: string) => wordFault(word, words)
    if (check === undefined || !Array.isArray(given)) continue
    for (const [index, word] of given.entries()) {
      const message = check(String(word))
      if (message !== undefined) faults.push({ path: ['match', member, index], message })
    }
  }
  return [...faults, ...nestedFaults(match)]
}

/** Of the members that are no lists. */
function nestedFaults({ header, time, ...match }: Match): readonly Fault[] {
  const faults: Fault[] = []
  for (const bound of ['present', 'absent'] as const) {
    for (const [index, name] of (header?.[bound] ?? []).entries()) {
      if (!TOKEN.test(name)) faults.push({ path: ['match', 'header', bound, index], message: unknown(name) })
    }
  }
  for (const member of ['confidence', 'networkConfidence'] as const) {
    for (const bound of ['atLeast', 'atMost'] as const) {
      const value = match[member]?.[bound]
      if (value === undefined || (value >= 0 && value <= 1)) continue
      faults.push({ path: ['match', member, bound], message: `${unknown(value)}: expected 0 to 1` })
    }
  }
  const span = time === undefined ? undefined : compileSpan(time)
  if (time !== undefined && typeof span === 'string') {
    faults.push({ path: ['match', 'time', span], message: `${unknown(time[span])}: expected ${SPANS[span]}` })
  }
  return faults
}

const SPANS = {
  from: 'HH:MM',
  to: 'HH:MM',
  days: DAYS.join(', '),
  zone: 'the IANA name of a zone, as Europe/Vienna',
} as const

/** What is wrong with one word of a member without a closed list; a word that nothing ever has would stop nothing. */
const CHECKS: Readonly<Partial<Record<keyof Match, (word: string) => string | undefined>>> = {
  country: countryFault,
  provider: (name) => (name.trim() === '' ? unknown(name) : undefined),
  asn: (asn) => (/^\d+$/.test(asn) ? undefined : unknown(Number(asn))),
  path: pathPatternFault,
  user: (name) => (name === '' ? unknown(name) : undefined),
  plan: (name) => (name === '' ? unknown(name) : undefined),
  method: (name) => (TOKEN.test(name) ? undefined : unknown(name)),
  vendor: (name) =>
    VENDORS.some((vendor) => vendor.toLowerCase() === name.toLowerCase()) || isIdentifier(name)
      ? undefined
      : unknown(name) + suggestion(name, VENDORS),
  identity: (name) =>
    name === '*' || SLUGS.includes(name) || isIdentifier(name) ? undefined : unknown(name) + suggestion(name, SLUGS),
}

function unknown(value: unknown): string {
  return `${JSON.stringify(value)} is unknown`
}

function wordFault(word: string, known: readonly string[]): string | undefined {
  return known.includes(word) ? undefined : oneOf(word, known).message
}

function oneOf(word: unknown, known: readonly string[]): { readonly message: string } {
  return { message: unknown(word) + suggestion(String(word), known) }
}

/** Codes that people write for a country that has another one. */
const OTHER_CODES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' }

function countryFault(code: string): string | undefined {
  if (code === 'unknown' || isCountry(code)) return undefined
  const capitals = code.toUpperCase()
  const meant = OTHER_CODES[capitals] ?? (isCountry(capitals) ? capitals : nearestWord(code, ['unknown']))
  return (
    unknown(code) + (meant === undefined ? ': expected a two-letter code of ISO 3166-1' : `; did you mean "${meant}"?`)
  )
}

/** A pattern can match if it is written as canonical paths are, and `**` is its last segment. */
function pathPatternFault(pattern: string): string | undefined {
  if (!pattern.startsWith('/')) return `${unknown(pattern)}: a path begins with a slash; did you mean "/${pattern}"?`
  if (pattern.split('/').slice(0, -1).includes('**')) return `${unknown(pattern)}: ** is the last segment of a path`
  // Browsers send UTF-8.
  const { path } = readPath(pattern.replace(/[\u0080-\ud7ff\ue000-\uffff]{1,999}/g, encodeURIComponent))
  return path === pattern ? undefined : `${unknown(pattern)}: paths are written as ${JSON.stringify(path)} is`
}

/** The identifier of a signature agent as verdicts write it: a URL without query, an origin without a slash. */
function isIdentifier(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { origin, pathname } = new URL(text)
  return text === origin + (pathname === '/' ? '' : pathname)
}
