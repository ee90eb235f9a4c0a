import type { Action, Degraded } from '../vocabulary.ts'
import type { MatchWord, Test } from './match-word.ts'
import { givenWords, type Match } from './match-words.ts'
import { createPathSplitter } from './split-path.ts'

/** The tests of a rule: all of them must hold. */
export interface CompiledMatch {
  readonly data: readonly Test[]
  /** The sub-lookups that `data` asks about. */
  readonly needs: readonly Degraded[]
  readonly agent: readonly Test[]
  readonly request: readonly Test[]
}

/** Sets are built once. Every value of the match has been checked. Costly tests come last (D337). */
export function compileMatch(match: Match, action: Action, splitter = createPathSplitter()): CompiledMatch {
  const given = givenWords(match).toSorted((one, other) => costOf(one.word) - costOf(other.word))
  const testsOf = (...subjects: readonly MatchWord<unknown>['asks'][]): readonly Test[] =>
    given.flatMap(({ word, value }) => (subjects.includes(word.asks) ? [word.test(value, { action, splitter })] : []))
  return {
    data: testsOf('asn', 'geo'),
    needs: (['asn', 'geo'] as const).filter((subject) => given.some(({ word }) => word.asks === subject)),
    agent: testsOf('agent'),
    request: testsOf('request'),
  }
}

function costOf({ costly = false }: MatchWord<unknown>): number {
  return costly ? 1 : 0
}
