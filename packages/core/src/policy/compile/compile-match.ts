import type { Degraded } from '../../vocabulary.ts'
import { listsNamed } from '../language/surroundings.ts'
import type { MatchWord, Test, WithinRule } from '../words/match-word.ts'
import { givenWords, type Match } from '../words/match-words.ts'
import { opposite } from '../words/not.ts'
import type { GivenWord } from '../words/word-test.ts'
import { testOf } from '../words/word-test.ts'
import type { Negation } from './rule-index.ts'

/** The tests of a rule: all of them must hold. */
export interface CompiledMatch {
  readonly data: readonly Test[]
  /** The sub-lookups that `data` asks about. */
  readonly needs: readonly Degraded[]
  readonly agent: readonly Test[]
  readonly request: readonly Test[]
  /** Those of no data that no key stands for and no rule before changes: which rules hold them can be found beforehand. */
  readonly steady: readonly Test[]
  /** That of its negation, with what refutes it. */
  readonly negation?: Negation | undefined
  /** All of its tests by their words; absent where every source of requests answers them. */
  readonly named?: readonly NamedTest[] | undefined
}

/** The test of a word, or of several within a negation. */
export interface NamedTest {
  readonly words: readonly string[]
  readonly test: Test
}

/** Compiles a match whose values have been checked. Costly tests come last, since all tests must hold and order is time alone. */
export function compileMatch(match: Match, rule: WithinRule): CompiledMatch {
  const given = givenWords(match).toSorted((one, other) => costOf(one.word) - costOf(other.word))
  const tests = given.map((word) => ({ word, test: sharedTest(word, rule) }))
  const testsOf = (...subjects: readonly MatchWord<unknown>['asks'][]): readonly Test[] =>
    tests.flatMap(({ word, test }) => (subjects.includes(kindOf(word)) ? [test] : []))
  const asked = given.flatMap(({ word, value }) => [word.asks, ...(word.needs?.(value) ?? [])])
  const negated = tests.find(({ word }) => word.name === 'not')
  return {
    data: testsOf('asn', 'geo'),
    needs: (['asn', 'geo'] as const).filter((subject) => asked.includes(subject)),
    agent: testsOf('agent'),
    request: testsOf('request'),
    steady: tests.flatMap(({ word, test }) => (isSteady(word) ? [test] : [])),
    ...(negated && { negation: { test: negated.test, refutations: refutationsOf(negated.word.value as Match, rule) } }),
    ...(given.some(mayLack) && { named: tests.map(({ word, test }) => ({ words: wordsIn(word), test })) }),
  }
}

/** The test of a word without keys; rules with the same value share it, so that it is asked once for all of them. */
function sharedTest(given: GivenWord, rule: WithinRule): Test {
  const { name, word, value } = given
  if (word.index !== undefined || differs(given, 'id')) return testOf(given, rule)
  const kind = `${rule.action === 'allow'} ${rule.trustsClaims === true}`
  return rule.once(`${name} ${kind} ${JSON.stringify(value)}`, () => testOf(given, rule))
}

/** Values of a negation that rules are likely to share; to look at all of a long list would cost more than it saves. */
const MAX_REFUTATIONS = 8

/** Tests by their names: each value of the only list of a negation refutes it. */
function refutationsOf(match: Match, rule: WithinRule): ReadonlyMap<string, () => Test> {
  const [inner, ...others] = givenWords(match)
  if (inner === undefined || others.length > 0 || !Array.isArray(inner.value) || inner.value.length < 2)
    return new Map()
  const within = opposite(rule)
  const values: readonly unknown[] = inner.value.slice(0, MAX_REFUTATIONS)
  return new Map(
    values.map((value) => {
      const name = `refuted by ${inner.name} ${within.action === 'allow'} ${JSON.stringify(value)}`
      return [name, () => rule.once(name, () => testOf({ ...inner, value: [value] }, within))]
    }),
  )
}

function isSteady(given: GivenWord): boolean {
  const { asks, index } = given.word
  return index === undefined && asks !== 'asn' && asks !== 'geo' && !differs(given, 'sum')
}

/** Whether a word, or one of a negation, differs so from rule to rule. */
function differs({ name, word, value }: GivenWord, by: MatchWord<unknown>['differs']): boolean {
  return name === 'not' ? givenWords(value as Match).some((inner) => differs(inner, by)) : word.differs === by
}

function mayLack({ word, value }: GivenWord): boolean {
  return word.mayLack === true || listsNamed(value).length > 0
}

/** The name of a word, or of those that a negation has. */
function wordsIn({ name, value }: GivenWord): readonly string[] {
  return name === 'not' ? Object.keys(value as object) : [name]
}

/** A list may be another at the visitor's next request. */
function kindOf({ word, value }: GivenWord): MatchWord<unknown>['asks'] {
  return listsNamed(value).length > 0 ? 'request' : word.asks
}

function costOf({ costly = false }: MatchWord<unknown>): number {
  return costly ? 1 : 0
}
