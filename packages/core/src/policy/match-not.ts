import type { Degraded } from '../vocabulary.ts'
import { type Extent, extents } from './extent.ts'
import { lacks } from './lacks.ts'
import { type MatchWord, someReach, type Test, type WithinRule } from './match-word.ts'
import { type GivenWord, testOf } from './word-test.ts'

/** The negation of a match, of which `wordsOf` gives the words. */
export function negation<Match extends object>(wordsOf: (match: Match) => readonly GivenWord[]): MatchWord<Match> {
  const needsOf = (match: Match): readonly Degraded[] =>
    wordsOf(match).flatMap(({ word, value }) => [
      ...(word.asks === 'asn' || word.asks === 'geo' ? [word.asks] : []),
      ...(word.needs?.(value) ?? []),
    ])
  return {
    values: {
      shape: 'match',
      faults(match) {
        const given = wordsOf(match)
        if (given.length === 0) return [{ path: [], message: 'the negation of nothing matches nothing' }]
        return given.flatMap(({ name, word, value }) =>
          word.values.faults(value).map(({ path, message }) => ({ path: [name, ...path], message })),
        )
      },
      reach: someReach,
      extentOf: extents<Match, ReadonlyMap<string, Extent>>({
        prepare: (match) => new Map(wordsOf(match).map(({ name, word, value }) => [name, word.values.extentOf(value)])),
        // Both have the same words, so that an unknown is one for both.
        within: (inner, outer, exact) =>
          inner.size === outer.size &&
          [...outer].every(([name, extent]) => {
            const own = inner.get(name)
            // Within a negation doubt counts the other way.
            return own !== undefined && extent.within(own, !exact)
          }),
      }),
    },
    stricter: true,
    asks: 'request',
    costly: true,
    mayLack: true,
    robots: false,
    needs: needsOf,
    description: 'Conditions that must not hold, all together',
    test(match, rule) {
      const needs = needsOf(match)
      const tests = wordsOf(match).map((word) => testOf(word, opposite(rule)))
      return (inspection, asked) => {
        if (needs.some((need) => lacks(inspection, need))) return undefined
        const held = allHold(tests, inspection, asked)
        return held === undefined ? undefined : !held
      }
    },
  }
}

/**
 * Within a negation doubt counts the other way: a claim without proof, or one of several readings, must not be what a
 * permission rests on, nor what a refusal is escaped by.
 */
export function opposite(rule: WithinRule): WithinRule {
  return { ...rule, action: rule.action === 'allow' ? 'block' : 'allow' }
}

/** Three-valued "and": one that fails settles it; else one that is not known leaves it open. */
function allHold(tests: readonly Test[], ...request: Parameters<Test>): boolean | undefined {
  let known = true
  for (const test of tests) {
    const holds = test(...request)
    if (holds === false) return false
    known &&= holds !== undefined
  }
  return known || undefined
}
