import type { Degraded } from '../vocabulary.ts'
import type { MatchWord, Test, WithinRule } from './match-word.ts'
import { givenWords, type Match } from './match-words.ts'
import { listsNamed } from './surroundings.ts'
import type { GivenWord } from './word-test.ts'
import { testOf } from './word-test.ts'

/** The tests of a rule: all of them must hold. */
export interface CompiledMatch {
  readonly data: readonly Test[]
  /** The sub-lookups that `data` asks about. */
  readonly needs: readonly Degraded[]
  readonly agent: readonly Test[]
  readonly request: readonly Test[]
}

/** Sets are built once. Every value of the match has been checked. Costly tests come last (D337). */
export function compileMatch(match: Match, rule: WithinRule): CompiledMatch {
  const given = givenWords(match).toSorted((one, other) => costOf(one.word) - costOf(other.word))
  const testsOf = (...subjects: readonly MatchWord<unknown>['asks'][]): readonly Test[] =>
    given.flatMap((word) => (subjects.includes(kindOf(word)) ? [testOf(word, rule)] : []))
  const asked = given.flatMap(({ word, value }) => [word.asks, ...(word.needs?.(value) ?? [])])
  return {
    data: testsOf('asn', 'geo'),
    needs: (['asn', 'geo'] as const).filter((subject) => asked.includes(subject)),
    agent: testsOf('agent'),
    request: testsOf('request'),
  }
}

/** A list may be another at the visitor's next request. */
function kindOf({ word, value }: GivenWord): MatchWord<unknown>['asks'] {
  return listsNamed(value).length > 0 ? 'request' : word.asks
}

function costOf({ costly = false }: MatchWord<unknown>): number {
  return costly ? 1 : 0
}
