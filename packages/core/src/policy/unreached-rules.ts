import { areApart, covers, decides, narrowed, opens, type Spread } from './coverage.ts'
import type { PolicyFault } from './fault.ts'
import type { Match } from './match-words.ts'
import type { Rule } from './policy.ts'
import { placeRules, placesOf } from './rule-index.ts'

/** Positions between two, ascending, of the rules of which every request of another may be one. */
export type Coverers = (
  narrow: Spread,
  between: { readonly after: number; readonly before: number },
) => readonly number[]

/** Finds them by the words that they have; `but` those that other words may stand for. */
export function coverersAmong(
  spreads: readonly Spread[],
  isOne: (rule: Rule) => boolean,
  but: readonly string[] = [],
): Coverers {
  const some = spreads.flatMap((spread, at) => (isOne(spread.rule) ? [[at, askedOf(spread, but)] as const] : []))
  const placed = placeRules(some)
  return ({ rule }, between) => placesOf(placed, rule.match, between)
}

function askedOf({ asked }: Spread, but: readonly string[]): Match {
  return Object.fromEntries(asked.flatMap(({ name, value }) => (but.includes(name) ? [] : [[name, value]])))
}

/**
 * Rules that decide nothing, count nothing and try nothing, because one before decides all that they match, or several decide
 * it value by value. `own`: how many of the rules are written by the user; after them come the rules of `presets`, of which
 * one is warned of where none of its rules is reached.
 */
export function unreachedRules(
  spreads: readonly Spread[],
  own: number,
  presets: readonly (readonly Rule[])[],
): readonly PolicyFault[] {
  const coverers = coverersAmong(spreads.slice(0, own), decides)
  // It is warned of itself.
  const open = spreads.findIndex(opens)
  const reached = spreads.map((_, at) => (open !== -1 && at > open ? [] : coveringRules(spreads, at, coverers)))
  const found = reached.slice(0, own).flatMap((by, index): readonly PolicyFault[] => {
    const { id, limit, concurrent } = (spreads[index] as Spread).rule
    if (by.length === 0) return []
    const counts = (limit ?? concurrent) === undefined ? '' : ', and it counts nothing'
    return [{ path: ['rules', index], rule: id, message: `no request reaches it${counts}: ${beforeText(by)}` }]
  })
  let at = own
  const unused = presets.flatMap((rules, index): readonly PolicyFault[] => {
    const by = reached.slice(at, at + rules.length)
    at += rules.length
    // A preset that strikes has no rules.
    if (rules.length === 0 || by.some(({ length }) => length === 0)) return []
    return [{ path: ['limits', index], message: `no request reaches it: ${beforeText([...new Set(by.flat())])}` }]
  })
  return [...found, ...unused]
}

/** The most rules that a message names. */
const MAX_NAMED = 3

function beforeText(by: readonly Rule[]): string {
  const [one, ...others] = by.slice(0, MAX_NAMED).map(({ id }) => `"${id}"`)
  const more = by.length > MAX_NAMED ? [`${by.length - MAX_NAMED} more`] : []
  const names = [one, ...others, ...more].join(', ')
  return by.length === 1
    ? `the rule ${names} before it decides all that it matches`
    : `the rules ${names} before it decide all that it matches`
}

/** The rule that decides all that the one at a position matches, or several that together do; none where it is reached. */
function coveringRules(spreads: readonly Spread[], at: number, coverers: Coverers): readonly Rule[] {
  const spread = spreads[at] as Spread
  const before = coverers(spread, { after: -1, before: at }).map((position) => spreads[position] as Spread)
  const whole = before.find((wide) => covers(wide, spread))
  if (whole !== undefined) return [whole.rule]
  for (const word of spread.words.values()) {
    const { value } = word
    if (!Array.isArray(value) || value.length < 2) continue
    const by = new Set<Rule>()
    const isCovered = value.every((one) => {
      const part = narrowed(spread, word, [one])
      const wide = before.find((wide) => covers(wide, part))
      if (wide !== undefined) by.add(wide.rule)
      return wide !== undefined
    })
    if (isCovered) return [...by]
  }
  return []
}

/** Rules between two that are looked at: further apart nothing is said of them. */
const MAX_BETWEEN = 200

/**
 * Rules that could be left away: a later one decides all that they match in the same way, and none between them does another
 * thing. Those that no request reaches are `unreached`.
 */
export function needlessRules(
  own: readonly Spread[],
  unreached: ReadonlySet<string | undefined>,
): readonly PolicyFault[] {
  const coverers = coverersAmong(own, isPlain)
  const next = nextOthers(own)
  return own.flatMap((spread, index): readonly PolicyFault[] => {
    const { rule } = spread
    if (!isPlain(rule) || unreached.has(rule.id)) return []
    for (const position of coverers(spread, { after: index, before: own.length })) {
      const later = own[position] as Spread
      if (later.rule.action !== rule.action || unreached.has(later.rule.id)) continue
      if (!covers(later, spread)) continue
      if (!isQuietBetween(own, next, index, position)) return []
      const message = `the rule "${later.rule.id}" after it does the same with all that it matches: nothing changes without it`
      return [{ path: ['rules', index], rule: rule.id, message }]
    }
    return []
  })
}

/** Whether a rule decides, in one way in any case. */
function isPlain(rule: Rule): boolean {
  return decides(rule) && rule.then === undefined && rule.onError === undefined
}

/** For each rule the first after it that is not as plain and of the same action. */
function nextOthers(own: readonly Spread[]): readonly number[] {
  const next: number[] = []
  for (let at = own.length - 1; at >= 0; at--) {
    const [one, other] = [(own[at] as Spread).rule, own[at + 1]?.rule]
    const isSame = other !== undefined && isPlain(one) && isPlain(other) && one.action === other.action
    next[at] = isSame ? (next[at + 1] as number) : at + 1
  }
  return next
}

/** Whether every rule between two does the same as the first, or is about other requests. */
function isQuietBetween(own: readonly Spread[], next: readonly number[], from: number, to: number): boolean {
  const spread = own[from] as Spread
  let seen = 0
  for (let at = next[from] as number; at < to; ) {
    const other = own[at] as Spread
    const isSame = isPlain(other.rule) && other.rule.action === spread.rule.action
    if (isSame) {
      at = next[at] as number
      continue
    }
    if (++seen > MAX_BETWEEN || !areApart(spread, other)) return false
    at++
  }
  return true
}
