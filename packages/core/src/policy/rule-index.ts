import type { Inspection } from '../values/inspection.ts'
import type { Asked } from './asked.ts'
import type { IndexKey, WordIndex } from './match-word.ts'
import { givenWords, type Match } from './match-words.ts'
import type { GivenWord } from './word-test.ts'

/** Finds the rules that a request may match, so that a thousand rules cost hardly more than ten (D402). */
export interface RuleIndex {
  /** Positions of rules, ascending; every rule that matches is among them. `undefined`: all of them. */
  candidates(inspection: Inspection, asked: Asked): readonly number[] | undefined
  /** Whether a rule is found by what differs between two requests of a visitor. */
  readonly asksRequest: boolean
}

/** Fewer rules that an index can find are asked one after the other. */
const MIN_RULES = 32

const NO_RULES: readonly number[] = []

/** Rules by the keys of one word. */
interface WordRules {
  readonly index: WordIndex<unknown>
  readonly rules: Map<IndexKey, number[]>
}

/** A way on which a rule can be found. */
interface Indexed {
  readonly rule: number
  readonly name: string
  readonly word: GivenWord['word']
  readonly keys: readonly IndexKey[]
}

/** `undefined` where it would not pay. */
export function createRuleIndex(matches: readonly Match[]): RuleIndex | undefined {
  const possible = matches.map((match, rule) =>
    givenWords(match).flatMap(({ name, word, value }): readonly Indexed[] => {
      const keys = word.index?.keysOf(value)
      return keys === undefined ? [] : [{ rule, name, word, keys }]
    }),
  )
  if (possible.filter((ways) => ways.length > 0).length < MIN_RULES) return undefined
  const crowd = new Map<string, number>()
  for (const { name, keys } of possible.flat()) {
    for (const key of keys) crowd.set(`${name} ${key}`, (crowd.get(`${name} ${key}`) ?? 0) + 1)
  }
  const crowdOf = ({ name, keys }: Indexed) =>
    keys.reduce<number>((sum, key) => sum + (crowd.get(`${name} ${key}`) ?? 0), 0)
  const always: number[] = []
  const words = new Map<string, WordRules>()
  let asksRequest = false
  for (const [rule, ways] of possible.entries()) {
    // The word by which it is found among the fewest others.
    const [best] = ways.toSorted((one, other) => crowdOf(one) - crowdOf(other))
    if (best?.word.index === undefined) {
      always.push(rule)
      continue
    }
    asksRequest ||= best.word.asks === 'request'
    const found = words.get(best.name) ?? { index: best.word.index, rules: new Map<IndexKey, number[]>() }
    words.set(best.name, found)
    for (const key of new Set(best.keys)) {
      const led = found.rules.get(key)
      if (led === undefined) found.rules.set(key, [rule])
      else led.push(rule)
    }
  }
  const indexes = [...words.values()]
  return {
    asksRequest,
    candidates(inspection, asked) {
      const found = [...always]
      for (const { index, rules } of indexes) {
        const keys = index.keysFor(inspection, asked)
        if (keys === undefined) return undefined
        // A client may say one thing five thousand times.
        for (const key of new Set(keys)) for (const rule of rules.get(key) ?? NO_RULES) found.push(rule)
      }
      return found.length === always.length ? always : [...new Set(found)].sort((one, other) => one - other)
    },
  }
}
