import { listsNamed } from '../language/surroundings.ts'
import type { MatchWord, Test, WithinRule } from '../words/match-word.ts'
import { givenWords, type Match } from '../words/match-words.ts'
import { compileWord, type GivenWord, listNeeds } from '../words/word-test.ts'

export type CompiledMatch = ReturnType<typeof compileMatch>

/** Compiles a match that has been checked. The tests that read parts of a request cost most and come last. */
export function compileMatch(match: Match, rule: WithinRule) {
  const given = givenWords(match).toSorted((one, other) => rankCost(one) - rankCost(other))
  const tests = given.map((word) => ({
    asks: readSubject(word),
    words: listInner(word),
    test: compileWord(word, rule),
  }))
  const select = (...subjects: readonly MatchWord<unknown>['asks'][]): readonly Test[] =>
    tests.flatMap(({ asks, test }) => (subjects.includes(asks) ? [test] : []))
  return {
    /** Tests of the network and the country need data. */
    data: select('asn', 'geo'),
    /** The tests in `data` need these sub-lookups. */
    needs: listNeeds(tests.flatMap(({ words }) => words)),
    agent: select('agent'),
    /** Tests of what is requested, and when: only these can differ between two requests of a visitor. */
    request: select('request', 'parts'),
    // Each test has its word, or the words of a negation; absent where every source of requests answers them.
    ...(given.some(mayLack) && {
      named: tests.map(({ words, test }) => ({ words: words.map(({ name }) => name), test })),
    }),
  }
}

function rankCost({ word: { asks } }: GivenWord): number {
  return asks === 'parts' ? 1 : 0
}

function mayLack({ word, value }: GivenWord): boolean {
  return word.mayLack === true || listsNamed(value).length > 0
}

/** Returns a word itself, or the words of a negation. */
function listInner(given: GivenWord): readonly GivenWord[] {
  return given.name === 'not' ? givenWords(given.value as Match) : [given]
}

/** A list may have changed by the visitor's next request. */
function readSubject({ word: { asks }, value }: GivenWord): MatchWord<unknown>['asks'] {
  return listsNamed(value).length > 0 && asks !== 'parts' ? 'request' : asks
}
