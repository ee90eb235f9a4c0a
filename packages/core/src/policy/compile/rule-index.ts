import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'
import type { IndexKey } from '../language/values.ts'
import type { Test, Way, WordIndex } from '../words/match-word.ts'
import { givenWords, type Match } from '../words/match-words.ts'

/** Finds the rules that a request may match, so that a thousand rules cost hardly more than ten. */
export interface RuleIndex {
  /** Positions of rules, ascending; every rule that matches is among them. `undefined`: all of them. */
  candidates(inspection: Inspection, asked: Asked): readonly number[] | undefined
  /** Positions of candidates after another that no sum of weights up to one reached, and the next one does. */
  reached(after: number, sums: Sums): readonly number[]
  /** Whether a rule is found by what differs between two requests of a visitor. */
  readonly asksRequest: boolean
}

/** A sum of weights before a rule that weighs, and after it. */
export interface Sums {
  readonly from: number
  readonly to: number
}

/** Fewer rules that an index can find are asked one after the other. */
const MIN_RULES = 32

const NO_RULES: readonly number[] = []

/** Rules by the keys of one word, or of one member of it. */
interface Place {
  readonly index: WordIndex<unknown>
  readonly member: string | undefined
  readonly asksRequest: boolean
  readonly rules: Map<IndexKey, number[]>
}

/** Rules, each at the keys by which it is found among the fewest others. */
export interface PlacedRules {
  /** Positions of those that no key finds. */
  readonly always: readonly number[]
  readonly places: ReadonlyMap<string, Place>
}

/** A way to find a rule, and the place to which it leads. */
interface Found {
  readonly id: string
  readonly index: WordIndex<unknown>
  readonly asksRequest: boolean
  readonly way: Way
}

function waysOf(match: Match): readonly Found[] {
  return givenWords(match).flatMap(({ name, word: { index, asks }, value }) =>
    (index?.waysOf(value) ?? []).map((way) => ({
      id: way.member === undefined ? name : `${name} ${way.member}`,
      index: index as WordIndex<unknown>,
      asksRequest: asks === 'request',
      way,
    })),
  )
}

/** Places rules by their positions. */
export function placeRules(matches: Iterable<readonly [number, Match]>): PlacedRules {
  const possible = [...matches].map(([rule, match]) => [rule, waysOf(match)] as const)
  const crowds = new Map<string, Map<IndexKey, number>>()
  for (const { id, way } of possible.flatMap(([, ways]) => ways)) {
    const crowd = crowds.get(id) ?? new Map<IndexKey, number>()
    crowds.set(id, crowd)
    for (const key of way.parts.flat()) crowd.set(key, (crowd.get(key) ?? 0) + 1)
  }
  const always: number[] = []
  const places = new Map<string, Place>()
  for (const [rule, ways] of possible) {
    const best = rarest(ways, crowds)
    if (best === undefined) {
      always.push(rule)
      continue
    }
    const { id, index, asksRequest, way } = best.found
    const place = places.get(id) ?? { index, member: way.member, asksRequest, rules: new Map() }
    places.set(id, place)
    for (const key of best.keys) {
      const led = place.rules.get(key)
      if (led === undefined) place.rules.set(key, [rule])
      else led.push(rule)
    }
  }
  return { always, places }
}

interface Chosen {
  readonly found: Found
  readonly keys: ReadonlySet<IndexKey>
  /** How many rules have these keys, those counted again that have several, times the cost of the way. */
  readonly crowd: number
}

/** A member is read again for each request: it pays where the keys of the word itself lead to several times as many rules. */
const MEMBER_COST = 8

/** Chooses the way, and for each of its parts the key, that fewest rules share. */
function rarest(
  ways: readonly Found[],
  crowds: ReadonlyMap<string, ReadonlyMap<IndexKey, number>>,
): Chosen | undefined {
  let best: Chosen | undefined
  for (const found of ways) {
    const sizes = crowds.get(found.id)
    const sizeOf = (key: IndexKey) => sizes?.get(key) ?? 0
    const keys = new Set(found.way.parts.map((part) => part.reduce((x, y) => (sizeOf(y) < sizeOf(x) ? y : x))))
    const cost = found.way.member === undefined ? 1 : MEMBER_COST
    const crowd = cost * [...keys].reduce<number>((sum, key) => sum + sizeOf(key), 0)
    if (best === undefined || crowd < best.crowd) best = { found, keys, crowd }
  }
  return best
}

/** The place in an ascending list of the first number beyond another. */
function firstAfter(numbers: readonly number[], number: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] as number) > number) high = middle
    else low = middle + 1
  }
  return low
}

export interface Negation {
  readonly test: Test
  readonly refutations: ReadonlyMap<string, () => Test>
}

/** The parts of a rule by which it is found. */
export interface Findable {
  readonly match: Match
  /** Tests that all must hold, and that say the same however many rules ask them. */
  readonly steady: readonly Test[]
  /** Tests of what differs between two requests of a visitor. */
  readonly request: readonly Test[]
  /** The test of a negation, among `steady`, with tests by their names, any of which shows by holding that it does not. */
  readonly negation?: Negation | undefined
}

/** Rules that neither a key nor a test finds, by the sum of weights that they begin at: it is reached or not while others are asked. */
function sumIndex(rules: readonly Findable[], without: readonly number[]) {
  const leastOf = (at: number) => rules[at]?.match.weight?.atLeast ?? 0
  const rising = without.filter((at) => leastOf(at) > 0).sort((one, other) => leastOf(one) - leastOf(other))
  const bounds = rising.map(leastOf)
  return {
    always: without.filter((at) => leastOf(at) === 0),
    reached: (after: number, { from, to }: Sums): readonly number[] =>
      rising.slice(firstAfter(bounds, from), firstAfter(bounds, to)).filter((at) => at > after),
  }
}

/** Rules that no key finds, by a test that all of them have; the others are `rest`. */
function sift(rules: readonly Findable[], without: readonly number[]) {
  const crowds = new Map<Test, number>()
  for (const test of without.flatMap((at) => rules[at]?.steady ?? [])) crowds.set(test, (crowds.get(test) ?? 0) + 1)
  const sizeOf = (test: Test) => crowds.get(test) as number
  const rest: number[] = []
  const tests = new Map<Test, number[]>()
  for (const at of without) {
    const [first, ...others] = rules[at]?.steady ?? []
    if (first === undefined) {
      rest.push(at)
      continue
    }
    const test = others.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one), first)
    const those = tests.get(test)
    if (those === undefined) tests.set(test, [at])
    else those.push(at)
  }
  return { rest, tests }
}

/** Tests with the rules that each leads to, and a test that shows by holding that none of them does. */
interface Gate {
  readonly refutation: Test | undefined
  readonly tests: (readonly [Test, readonly number[]])[]
}

/** Puts tests of negations behind the refutation that most of them share: what all exclude is asked once. */
function gatesOf(rules: readonly Findable[], sifted: ReadonlyMap<Test, readonly number[]>): readonly Gate[] {
  const negations = new Map(
    rules.flatMap(({ negation }) => (negation === undefined ? [] : [[negation.test, negation]])),
  )
  const crowds = new Map<string, number>()
  const namesOf = (test: Test) => [...(negations.get(test)?.refutations.keys() ?? [])]
  for (const name of [...sifted.keys()].flatMap(namesOf)) crowds.set(name, (crowds.get(name) ?? 0) + 1)
  const sizeOf = (name: string) => crowds.get(name) as number
  const gates = new Map<string | undefined, Gate>()
  for (const [test, led] of sifted) {
    const name = namesOf(test)
      .filter((name) => sizeOf(name) > 1)
      .reduce<string | undefined>(
        (one, other) => (one === undefined || sizeOf(other) > sizeOf(one) ? other : one),
        undefined,
      )
    const refutation = name === undefined ? undefined : negations.get(test)?.refutations.get(name)
    const gate = gates.get(name) ?? { refutation: refutation?.(), tests: [] }
    gates.set(name, gate)
    gate.tests.push([test, led])
  }
  return [...gates.values()]
}

/** `undefined` where it would not pay. */
export function createRuleIndex(rules: readonly Findable[]): RuleIndex | undefined {
  const { always, places } = placeRules(rules.map(({ match }, at) => [at, match] as const))
  const { rest: sums, tests } = sift(rules, always)
  const { always: rest, reached } = sumIndex(rules, sums)
  if (rules.length - rest.length < MIN_RULES) return undefined
  const asked = [...places.values()]
  const gates = gatesOf(rules, tests)
  const sifted = [...tests].some(([test, led]) => led.some((rule) => rules[rule]?.request.includes(test)))
  return {
    asksRequest: sifted || asked.some(({ asksRequest }) => asksRequest),
    reached,
    candidates(inspection, request) {
      const found = [...rest]
      for (const { index, member, rules } of asked) {
        const keys = index.keysFor(inspection, request, member)
        if (keys === undefined) return undefined
        // A client may say one thing five thousand times.
        for (const key of new Set(keys)) for (const rule of rules.get(key) ?? NO_RULES) found.push(rule)
      }
      for (const { refutation, tests } of gates) {
        if (refutation?.(inspection, request)) continue
        for (const [test, led] of tests) if (test(inspection, request)) for (const rule of led) found.push(rule)
      }
      return found.length === rest.length ? rest : [...new Set(found)].sort((one, other) => one - other)
    },
  }
}
