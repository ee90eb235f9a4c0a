import { joinTests, type MatchWord, type WithinRule } from './match-word.ts'
import { compileWord, type GivenWord, lacks, listNeeds, wordFaults } from './word-test.ts'

/** Makes the negation of a match, whose words `listWords` returns. */
export function negation<Match extends object>(
  listWords: (match: Match) => readonly GivenWord[],
  example: Match,
): MatchWord<Match> {
  return {
    values: {
      shape: 'match',
      faults(match) {
        const given = listWords(match)
        if (given.length === 0) return [{ path: [], message: 'not is empty, so the rule never matches' }]
        return wordFaults(given)
      },
    },
    asks: 'parts',
    mayLack: true,
    description: 'Conditions, as in match, that must not all hold',
    example,
    test(match, rule) {
      const given = listWords(match)
      const needs = listNeeds(given)
      const allHold = joinTests(given.map((word) => compileWord(word, opposite(rule))))
      return (inspection, asked) => {
        if (needs.length > 0 && needs.some((need) => lacks(inspection, need))) return undefined
        const held = allHold(inspection, asked)
        return held === undefined ? undefined : !held
      }
    },
  }
}

/**
 * Reverses doubt within a negation: an unproven claim, or one of several readings, must neither support a permission nor escape a refusal.
 */
function opposite(rule: WithinRule): WithinRule {
  return { ...rule, action: rule.action === 'allow' ? 'block' : 'allow', isNegated: true }
}
