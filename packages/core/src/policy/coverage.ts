import type { Extent } from './extent.ts'
import { givenWords, type Match } from './match-words.ts'
import type { Rule } from './policy.ts'
import type { GivenWord } from './word-test.ts'

/** A word of a rule, ready to be held against that of another rule. */
export interface SpreadWord extends GivenWord {
  readonly extent: Extent
}

/** The requests that a rule takes in. */
export interface Spread {
  readonly rule: Rule
  readonly words: ReadonlyMap<string, SpreadWord>
  /** Those that some requests fail. */
  readonly asked: readonly SpreadWord[]
  /** It allows, by proof alone. */
  readonly strict: boolean
  /** Sub-lookups that it asks about. */
  readonly needs: readonly string[]
  /** The sum of all weights before it: two rules that read the sum may read another one where these differ. */
  readonly weighed: number
}

/** Spreads of rules in the order in which they are asked. */
export function spreadsOf(rules: readonly Rule[]): readonly Spread[] {
  let weighed = 0
  return rules.map((rule) => {
    const spread = spreadOf(rule, weighed)
    if (rule.monitor !== true) weighed += rule.weight ?? 0
    return spread
  })
}

function spreadOf(rule: Rule, weighed: number): Spread {
  const given = givenWords(rule.match)
  const words = given.map(({ name, word, value }) => ({ name, word, value, extent: word.values.extentOf(value) }))
  const strict = allows(rule)
  return {
    rule,
    words: new Map(words.map((word) => [word.name, word])),
    asked: words.filter((word) => !isMetByAll(word, strict)),
    strict,
    needs: given.flatMap(({ word, value }) => [
      ...(word.asks === 'asn' || word.asks === 'geo' ? [word.asks] : []),
      ...(word.needs?.(value) ?? []),
    ]),
    weighed,
  }
}

/** A rule with one of its words narrowed to a value of it, as any of the several readings of a request may meet it. */
export function narrowed(
  spread: Spread,
  { name, word }: Pick<GivenWord, 'name' | 'word'>,
  value: readonly unknown[],
): Spread {
  const { rule, words, asked, needs, weighed } = spread
  const one = { name, word, value, extent: word.values.extentOf(value) }
  return { rule, words: new Map(words).set(name, one), asked, needs, weighed, strict: spread.strict && !word.stricter }
}

/** Whether a rule allows where it matches. */
function allows({ action, then, monitor = false }: Rule): boolean {
  return action === 'allow' || (then === 'allow' && !monitor)
}

/** Whether no request fails a word of a rule, which is `strict` where it allows. */
function isMetByAll({ word, value }: GivenWord, strict: boolean): boolean {
  return word.values.reach(value) === 'all' && !(strict && word.stricter === true)
}

/** Whether a rule allows every request of which its words are known. */
export function opens({ rule: { monitor = false }, strict, words }: Spread): boolean {
  return strict && !monitor && [...words.values()].every(({ word, value }) => word.values.reach(value) !== 'some')
}

/** Whether every rule after one is asked only about what that one does not match; not who holds a pass, or is no proven crawler. */
export function decides({ action, monitor = false, weight, limit, concurrent, then, onError }: Rule): boolean {
  return (
    // A flag is a mark: the rules after it are asked.
    action !== 'flag' &&
    onError !== 'flag' &&
    action !== 'challenge' &&
    action !== 'redirect' &&
    !monitor &&
    weight === undefined &&
    ((limit ?? concurrent) === undefined || then === 'allow')
  )
}

/** Whether every request of one rule is one of another: certain, as far as the words of both tell. */
export function covers(wide: Spread, narrow: Spread): boolean {
  return wide.asked.every((word) => coversWord(wide, word, narrow)) && coversUnanswered(wide, narrow)
}

/** Whether every request of a rule meets one word of another. */
export function coversWord(wide: Spread, { name, word, extent }: SpreadWord, narrow: Spread): boolean {
  const own = narrow.words.get(name)
  if (own === undefined || (wide.strict && !narrow.strict && word.stricter)) return false
  if (wide.weighed !== narrow.weighed && readsWeight(own)) return false
  return own.extent.within(extent, wide.strict)
}

function readsWeight({ name, value }: GivenWord): boolean {
  return name === 'weight' || (name === 'not' && (value as Match).weight !== undefined)
}

/** A rule with `onError` also takes in what it cannot answer. */
function coversUnanswered(wide: Spread, narrow: Spread): boolean {
  if (narrow.rule.onError === undefined || narrow.needs.length === 0 || wide.needs.length === 0) return true
  return wide.rule.onError !== undefined && narrow.needs.every((need) => wide.needs.includes(need))
}

/** Whether no request is of both rules: certain, as words tell of which a request has one value. */
export function areApart(one: Spread, other: Spread): boolean {
  return one.asked.some(({ name, word, extent }) => {
    const own = other.words.get(name)
    return own !== undefined && word.stricter !== true && name !== 'weight' && own.extent.apart(extent)
  })
}
