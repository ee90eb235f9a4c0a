import { AUTOMATION } from '@sallyport/data/automation'
import { CRAWLERS, type CrawlerRow } from '@sallyport/data/crawlers'
import { coversWord, decides, narrowed, type Spread, spreadsOf } from './coverage.ts'
import type { PolicyFault } from './fault.ts'
import { LIMIT_PRESETS } from './limit-presets.ts'
import type { MatchWord } from './match-word.ts'
import { givenWords, MATCH_WORDS, type Match } from './match-words.ts'
import type { Policy, Rule } from './policy.ts'
import { PRESETS } from './presets.ts'
import { type Coverers, coverersAmong } from './unreached-rules.ts'

/** A rule in force, and where it comes from. */
interface Placed extends Spread {
  readonly path: PolicyFault['path']
  /** The preset that has it, in words; absent for a rule of the user's own. */
  readonly of?: string | undefined
  /** How a limit of it is kept; absent for what the user did not choose alone. */
  readonly cure?: string | undefined
}

const THEN_ALLOW = 'with then: allow it allows requests within the limit, crawlers only if they are proven'

/**
 * Limits that let nothing through: within one the rules after it decide, and one of them blocks what it counts, or a part of
 * it that the words of both name.
 */
export function undoneLimits(policy: Policy): readonly PolicyFault[] {
  const rules = placedRules(policy)
  const after = createAfter(rules)
  return rules.flatMap((placed, at) => {
    const { rule, path, cure } = placed
    const { id, monitor = false, limit, concurrent, then } = rule
    if ((limit ?? concurrent) === undefined || monitor || then === 'allow' || cure === undefined) return []
    return [...undoneParts(placed, at, after)].map(([by, labels]) => {
      const what = labels.length === 0 ? 'all that it counts' : `${labels.join(', ')} of what it counts`
      const who = by.of === undefined ? `the rule "${by.rule.id}" after it` : by.of
      return { path, rule: id, message: `${who} blocks ${what}, within the limit too; ${cure}` }
    })
  })
}

/** The rules in the order in which they are asked, and at last the default where it blocks. */
function placedRules({ preset, rules, limits = [], default: fallback }: Policy): readonly Placed[] {
  const last: Rule = { id: 'default', match: {}, action: 'block' }
  const places: readonly (Omit<Placed, keyof Spread> & Pick<Placed, 'rule'>)[] = [
    ...rules.map((rule, index) => ({ rule, path: ['rules', index], cure: THEN_ALLOW })),
    ...limits.flatMap((name, index) => {
      const cure = `remove ${name}, or write a rule like it with then: allow`
      return LIMIT_PRESETS[name].map((rule) => ({ rule, path: ['limits', index], of: `a rule of ${name}`, cure }))
    }),
    ...PRESETS[preset].map((rule) => ({
      rule,
      path: ['preset'],
      of: `the rule "${rule.id}" of the preset ${preset}`,
    })),
    ...(fallback === 'block' ? [{ rule: last, path: ['default'], of: DEFAULT }] : []),
  ]
  return spreadsOf(places.map(({ rule }) => rule)).map((spread, at) => Object.assign(spread, places[at]))
}

const DEFAULT = 'the default of the policy'

/** The rules after one, and how those that matter to it are found. */
interface After {
  readonly deciding: Coverers
  /** Those that do something else than block, with their positions. */
  readonly opening: readonly (readonly [number, Placed])[]
  readonly rules: readonly Placed[]
}

function createAfter(rules: readonly Placed[]): After {
  return {
    rules,
    // A rule about kinds of crawlers decides about one that is named, by another word.
    deciding: coverersAmong(rules, decides, STOOD_FOR),
    opening: rules.flatMap((placed, at) =>
      decides(placed.rule) && !blocks(placed.rule) ? [[at, placed] as const] : [],
    ),
  }
}

function blocks({ action, then }: Rule): boolean {
  return action === 'block' && then === undefined
}

/** The rules that block what a limit counts, each with the parts that it blocks; no part where it is all. */
function undoneParts(placed: Placed, at: number, after: After): ReadonlyMap<Placed, readonly string[]> {
  const found = new Map<Placed, string[]>()
  const deciding = after.deciding(placed, { after: at, before: after.rules.length })
  const whole = blockerOf(placed, at, deciding, after)
  if (whole !== undefined) return found.set(whole, [])
  for (const parts of [valuesOf(placed), purposesOf(placed)]) {
    for (const [label, part] of parts) {
      const by = blockerOf(part, at, deciding, after)
      if (by !== undefined) found.set(by, [...(found.get(by) ?? []), label])
    }
    if (found.size > 0) return found
  }
  return found
}

/** Rules between two that are looked at: further apart nothing is said of them. */
const MAX_BETWEEN = 1_000

/** The rule that blocks every request of a limit, or of a part of it; `undefined` where some may get past. */
function blockerOf(
  part: Spread,
  at: number,
  deciding: readonly number[],
  { rules, opening }: After,
): Placed | undefined {
  const crawlers = crawlersOf(part)
  const position = deciding.find((position) => decidesAll(rules[position] as Placed, part, crawlers))
  if (position === undefined) return undefined
  const blocker = rules[position] as Placed
  if (!blocks(blocker.rule)) return undefined
  let seen = 0
  for (const [place, other] of opening) {
    if (place <= at || place >= position) continue
    if (++seen > MAX_BETWEEN) return undefined
    // A rule that the user wrote between them is meant to take its share.
    if (overlaps(other, part, crawlers) && (other.of === undefined || blocker.of === DEFAULT)) return undefined
  }
  return blocker
}

/** Each value of a word with several, alone. */
function valuesOf(spread: Spread): readonly (readonly [string, Spread])[] {
  return [...spread.words.values()].flatMap((word) => {
    const { name, value } = word
    if (!Array.isArray(value) || value.length < 2) return []
    return value.map((one): readonly [string, Spread] => [`${name} ${one}`, narrowed(spread, word, [one])])
  })
}

const PURPOSE = { name: 'purpose', word: MATCH_WORDS.purpose as MatchWord<unknown> }

/** Each purpose of the crawlers that a match is about, alone. */
function purposesOf(spread: Spread): readonly (readonly [string, Spread])[] {
  if (spread.words.has('purpose')) return []
  const purposes = new Set((crawlersOf(spread) ?? []).map(({ purpose }) => purpose))
  return [...purposes].map((purpose) => [`purpose ${purpose}`, narrowed(spread, PURPOSE, [purpose])])
}

/** Whether a rule decides every request of another one, as far as its words and the catalogue of crawlers tell. */
function decidesAll(wide: Spread, narrow: Spread, crawlers: readonly CrawlerRow[] | undefined): boolean {
  return wide.asked.every((word) => {
    const { name, value } = word
    if (coversWord(wide, word, narrow)) return true
    if (name === 'not') return isApartFrom(narrow, value as Match)
    if (name === 'headless') return value === true && namesHeadless(narrow.words.get('userAgent')?.value)
    if (name === 'class') return isSpoofed(narrow.rule.match) && (value as readonly string[]).includes('impostor')
    return crawlers !== undefined && crawlers.length > 0 && crawlers.every((row) => fits(row, name, value) ?? false)
  })
}

/** Whether no request of a match is of a negated one: certain, by a word of which a request has one value. */
function isApartFrom({ rule, words }: Spread, negated: Match): boolean {
  // It also takes in what it cannot answer, which the other one leaves alone.
  if (rule.onError !== undefined) return false
  return givenWords(negated).some(({ name, word, value }) => {
    const own = words.get(name)
    return own !== undefined && word.stricter !== true && own.extent.apart(word.values.extentOf(value))
  })
}

/** Whether each pattern of user agents names a browser that says it has no window. */
function namesHeadless(value: unknown): boolean {
  const patterns = Array.isArray(value) ? value.map((one) => String(one).toLowerCase()) : []
  return patterns.length > 0 && patterns.every((text) => HEADLESS_TOKENS.some((token) => text.includes(token)))
}

const HEADLESS_TOKENS: readonly string[] = AUTOMATION.flatMap(({ token, kind }) =>
  kind === 'headless' ? [token.toLowerCase()] : [],
)

function isSpoofed({ crawlerOutcome: [outcome, ...others] = [] }: Match): boolean {
  return outcome === 'spoofed' && others.length === 0
}

/** Whether some request may be of both; where the words do not tell, it may. */
function overlaps(one: Spread, other: Spread, crawlers: readonly CrawlerRow[] | undefined): boolean {
  return one.asked.every(({ name, value, extent }) => {
    const own = other.words.get(name)
    if (own !== undefined) return !own.extent.apart(extent)
    return crawlers === undefined || crawlers.length === 0 || crawlers.some((row) => fits(row, name, value) ?? true)
  })
}

/** Words that are about a crawler, of which one tells another. */
const CATALOGUED: readonly (keyof Match)[] = ['crawler', 'operator', 'purpose', 'identity', 'vendor', 'class']

/** Words that a match may be held to by its others. */
const STOOD_FOR: readonly (keyof Match)[] = [...CATALOGUED, 'headless', 'not']

/** The crawlers that a match is about; `undefined` where it is about others too. */
function crawlersOf({ words }: Spread): readonly CrawlerRow[] | undefined {
  const about = CATALOGUED.flatMap((name) => words.get(name) ?? []).filter(({ name, value }) => {
    const values = value as readonly string[]
    if (name === 'class') return values.some((one) => one === 'ai_agent' || one === 'verified_crawler')
    return name !== 'identity' || !values.includes('*')
  })
  const patterns = crawlerPatterns(words.get('userAgent')?.value)
  if (about.length === 0 && patterns === undefined) return undefined
  const rows =
    patterns === undefined ? CRAWLERS : CRAWLERS.filter((row) => patterns.some((text) => isNamedIn(row, text)))
  return rows.filter((row) => about.every(({ name, value }) => fits(row, name, value) ?? true))
}

/** Patterns of user agents, in lower case, each of which names a crawler; `undefined` where one does not. */
function crawlerPatterns(value: unknown): readonly string[] | undefined {
  const patterns = Array.isArray(value) ? value.map((one) => String(one).toLowerCase()) : []
  const isAbout = patterns.length > 0 && patterns.every((text) => CRAWLERS.some((row) => isNamedIn(row, text)))
  return isAbout ? patterns : undefined
}

function isNamedIn({ tokens }: CrawlerRow, pattern: string): boolean {
  return tokens.some((token) => pattern.includes(token.toLowerCase()))
}

/** Whether a crawler is one of those that a word names; `undefined` where the word is not about crawlers. */
function fits({ slug, operator, purpose }: CrawlerRow, name: string, value: unknown): boolean | undefined {
  const values = Array.isArray(value) ? value.map((one) => String(one).toLowerCase()) : []
  switch (name) {
    case 'crawler':
      return values.includes(slug)
    case 'identity':
      return values.includes(slug) || values.includes('*')
    case 'operator':
    case 'vendor':
      return values.includes(operator.toLowerCase())
    case 'purpose':
      return values.includes(purpose)
    default:
      return undefined
  }
}
