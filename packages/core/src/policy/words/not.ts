import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import { lacks } from './lacks.ts'
import type { MatchWord, Test, WithinRule } from './match-word.ts'
import { compileWord, type GivenWord, listNeeds } from './word-test.ts'

/** The negation of a match, of which `listWords` gives the words. */
export function negation<Match extends object>(
  listWords: (match: Match) => readonly GivenWord[],
  example: Match,
): MatchWord<Match> {
  return {
    values: {
      shape: 'match',
      faults(match) {
        const given = listWords(match)
        if (given.length === 0) return [{ path: [], message: 'the negation of nothing matches nothing' }]
        return given.flatMap(({ name, word, value }) =>
          word.values.faults(value).map(({ path, message }) => ({ path: [name, ...path], message })),
        )
      },
    },
    asks: 'parts',
    mayLack: true,
    robots: false,
    description: 'Conditions that must not hold, all together, by the same words as match',
    example,
    test(match, rule) {
      const given = listWords(match)
      const needs = listNeeds(given)
      const tests = given.map((word) => compileWord(word, opposite(rule)))
      return (inspection, asked) => {
        if (needs.length > 0 && needs.some((need) => lacks(inspection, need))) return undefined
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
function opposite(rule: WithinRule): WithinRule {
  return { ...rule, action: rule.action === 'allow' ? 'block' : 'allow' }
}

/** Three-valued "and": one that fails settles it; else one that is not known leaves it open. */
function allHold(tests: readonly Test[], inspection: Inspection, asked: Asked): boolean | undefined {
  let known = true
  for (const test of tests) {
    const holds = test(inspection, asked)
    if (holds === false) return false
    known &&= holds !== undefined
  }
  return known || undefined
}
