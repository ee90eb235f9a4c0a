import { CRAWLERS, type CrawlerRow } from '@sallyport/data/crawlers'
import type { Bounds } from './bounds.ts'
import type { PolicyFault } from './fault.ts'
import { LIMIT_PRESETS } from './limit-presets.ts'
import { givenWords, type Match } from './match-words.ts'
import type { Policy, Rule } from './policy.ts'
import { PRESETS } from './presets.ts'

/** A rule in force, and where it comes from. */
interface Placed {
  readonly rule: Rule
  readonly path: PolicyFault['path']
  /** The preset that has it, in words; absent for a rule of the user's own. */
  readonly of?: string | undefined
  /** How a limit of it is kept; absent for what the user did not choose alone. */
  readonly cure?: string | undefined
}

/** Some of the requests that a rule counts, in words; all of them without. */
interface Part {
  readonly match: Match
  readonly label?: string | undefined
}

const THEN_ALLOW = 'with then: allow it lets through what is within the limit, crawlers where they are proven'

/**
 * Limits that let nothing through: within one the rules after it decide, and one of them blocks what it counts, or a part of
 * it that the words of both name.
 */
export function undoneLimits(policy: Policy): readonly PolicyFault[] {
  const rules = placedRules(policy)
  return rules.flatMap((placed, at) => {
    const { rule, path, cure } = placed
    const { id, match, monitor = false, limit, concurrent, then } = rule
    if ((limit ?? concurrent) === undefined || monitor || then === 'allow' || cure === undefined) return []
    const later = rules.slice(at + 1)
    const undone = undoneParts(match, later)
    return [...undone].map(([by, labels]) => {
      const what = labels.length === 0 ? 'all that it counts' : `${labels.join(', ')} of what it counts`
      const who = by.of === undefined ? `the rule "${by.rule.id}" after it` : by.of
      return { path, rule: id, message: `${who} blocks ${what}, within the limit too; ${cure}` }
    })
  })
}

/** The rules in the order in which they are asked, and at last the default where it blocks. */
function placedRules({ preset, rules, limits = [], default: fallback }: Policy): readonly Placed[] {
  const inPreset = (rule: Rule): Placed => ({
    rule,
    path: ['preset'],
    of: `the rule "${rule.id}" of the preset ${preset}`,
  })
  const last: Rule = { id: 'default', match: {}, action: 'block' }
  return [
    ...rules.map((rule, index) => ({ rule, path: ['rules', index], cure: THEN_ALLOW })),
    ...limits.flatMap((name, index) => {
      const cure = `leave ${name} away, or write a rule like it with then: allow`
      return LIMIT_PRESETS[name].map((rule) => ({ rule, path: ['limits', index], of: `a rule of ${name}`, cure }))
    }),
    ...PRESETS[preset].map(inPreset),
    ...(fallback === 'block' ? [{ rule: last, path: ['default'], of: DEFAULT }] : []),
  ]
}

const DEFAULT = 'the default of the policy'

/** The rules that block what a limit counts, each with the parts that it blocks; no part where it is all. */
function undoneParts(match: Match, later: readonly Placed[]): ReadonlyMap<Placed, readonly string[]> {
  const found = new Map<Placed, readonly string[]>()
  const steps: readonly (readonly Part[])[] = [[{ match }], valuesOf(match), purposesOf(match)]
  for (const parts of steps) {
    for (const { match: part, label } of parts) {
      const by = blockerOf(part, later)
      if (by !== undefined) found.set(by, [...(found.get(by) ?? []), ...(label === undefined ? [] : [label])])
    }
    if (found.size > 0) return found
  }
  return found
}

/** The rule that blocks every request of a match; `undefined` where some may get past. */
function blockerOf(match: Match, later: readonly Placed[]): Placed | undefined {
  let softened = false
  for (const placed of later) {
    const { action, monitor = false, weight, limit, concurrent, then, match: other } = placed.rule
    const opens = then === 'allow'
    if (monitor || weight !== undefined || ((limit ?? concurrent) !== undefined && !opens)) continue
    const blocks = action === 'block' && !opens
    if (covers(other, match)) return blocks && !(placed.of === DEFAULT && softened) ? placed : undefined
    if (blocks || !overlaps(other, match)) continue
    // A rule that the user wrote between them is meant to take its share.
    if (placed.of === undefined) return undefined
    softened = true
  }
  return undefined
}

/** Each value of a word with several, alone. */
function valuesOf(match: Match): readonly Part[] {
  return givenWords(match).flatMap(({ name, value }) => {
    if (!Array.isArray(value) || value.length < 2) return []
    return value.map((one) => ({ match: { ...match, [name]: [one] }, label: `${name} ${one}` }))
  })
}

/** Each purpose of the crawlers that a match is about, alone. */
function purposesOf(match: Match): readonly Part[] {
  if (match.purpose !== undefined) return []
  const purposes = new Set((crawlersOf(match) ?? []).map(({ purpose }) => purpose))
  return [...purposes].map((purpose) => ({ match: { ...match, purpose: [purpose] }, label: `purpose ${purpose}` }))
}

/** Whether every request of `match` is one of `wide`. */
function covers(wide: Match, match: Match): boolean {
  return givenWords(wide).every(({ name, value, word }) => {
    if (word.values.matchesAll(value)) return true
    const own = match[name as keyof Match]
    if (own !== undefined && isWithin(own, value)) return true
    if (name === 'class') return isWithin(match.crawlerOutcome ?? ['?'], ['spoofed']) && isWithin(['impostor'], value)
    const rows = crawlersOf(match)
    return rows !== undefined && rows.length > 0 && rows.every((row) => fits(row, name, value) ?? false)
  })
}

/** Whether some request may be of both; where the words do not tell, it may. */
function overlaps(one: Match, other: Match): boolean {
  const rows = crawlersOf(other)
  return givenWords(one).every(({ name, value }) => {
    const own = other[name as keyof Match]
    if (Array.isArray(value) && Array.isArray(own))
      return value.some((it) => isWithin([it], own) || isWithin(own, [it]))
    if (typeof value === 'boolean' && own !== undefined) return value === own
    return rows === undefined || rows.length === 0 || rows.some((row) => fits(row, name, value) ?? true)
  })
}

/** The crawlers that a match is about; `undefined` where it is about others too. */
function crawlersOf(match: Match): readonly CrawlerRow[] | undefined {
  const { crawler, operator, purpose, identity, vendor, class: classes = [] } = match
  const names = identity?.includes('*') ? undefined : identity
  const isAboutCrawlers = [crawler, operator, purpose, names, vendor].some((word) => word !== undefined)
  if (!isAboutCrawlers && !classes.some((it) => it === 'ai_agent' || it === 'verified_crawler')) return undefined
  const words = Object.entries({ crawler, operator, purpose, identity: names, vendor })
  return CRAWLERS.filter((row) =>
    words.every(([name, value]) => value === undefined || fits(row, name, value) === true),
  )
}

/** Whether a crawler is one of those that a word names; `undefined` where the word is not about crawlers. */
function fits({ slug, operator, purpose }: CrawlerRow, name: string, value: unknown): boolean | undefined {
  switch (name) {
    case 'crawler':
    case 'identity':
      return isWithin([slug], value)
    case 'operator':
    case 'vendor':
      return isWithin([operator], value)
    case 'purpose':
      return isWithin([purpose], value)
    default:
      return undefined
  }
}

/** Whether what one value of a word takes in is part of what another takes in. */
function isWithin(inner: unknown, outer: unknown): boolean {
  if (Array.isArray(inner) && Array.isArray(outer)) {
    return inner.every((one) => outer.some((other) => isOneOf(one, other)))
  }
  if (isBounds(inner) && isBounds(outer)) {
    return (outer.atLeast ?? 0) <= (inner.atLeast ?? 0) && (inner.atMost ?? Infinity) <= (outer.atMost ?? Infinity)
  }
  return JSON.stringify(inner) === JSON.stringify(outer)
}

/** The case of no word tells two apart; `*` is any name, and `/a/**` has all below `/a`. */
function isOneOf(one: unknown, other: unknown): boolean {
  const [inner, outer] = [String(one).toLowerCase(), String(other).toLowerCase()]
  if (inner === outer || outer === '*') return true
  return outer.startsWith('/') && outer.endsWith('/**') && `${inner}/`.startsWith(outer.slice(0, -2))
}

function isBounds(value: unknown): value is Bounds {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every((key) => key === 'atLeast' || key === 'atMost')
  )
}
