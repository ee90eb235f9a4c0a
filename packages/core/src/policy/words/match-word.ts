import type { Inspection } from '../../values/inspection.ts'
import type { Action, Degraded } from '../../vocabulary.ts'
import type { Asked } from '../language/asked.ts'
import type { Surroundings } from '../language/surroundings.ts'
import type { IndexKey, Values } from '../language/values.ts'
import type { PathSplitter } from '../paths/split-path.ts'

/** Whether one member of a rule's match holds; `undefined` where it is not known: then neither it nor its negation does. */
export type Test = (inspection: Inspection, asked: Asked) => boolean | undefined

/**
 * Everything about one word of a match: what reads configurations, checks, compiles, announces and documents it asks this
 * row and names no word itself. `robots` has no default: a word that is forgotten there would be announced to all.
 */
export interface MatchWord<Value> {
  readonly values: Values<Value>
  /** A sub-lookup, which may be missing, the agent, or the request, which alone differs between two of one visitor. */
  readonly asks: 'asn' | 'geo' | 'agent' | 'request'
  /** Asked after the other words of its kind, because it reads a path, a clock or all fields. */
  readonly costly?: boolean | undefined
  /** Some sources of requests or of data lack what it reads: then it is not known whether it holds. */
  readonly mayLack?: boolean | undefined
  /** Anybody can say it: a rule that allows may not rest on such words alone. */
  readonly claim?: boolean | undefined
  /** The way to a few of many rules that have the word, by keys of the request. */
  readonly index?: WordIndex<Value> | undefined
  /** Rules with one value differ: each has clients of its own (`id`), or other rules before it (`sum`). */
  readonly differs?: 'id' | 'sum' | undefined
  /** The data that a value asks about, beyond `asks`. */
  needs?(value: Value): readonly Degraded[]
  /** Whether robots.txt can say a rule by it: an inspection that knows a crawler, a path and GET alone answers it. */
  readonly robots: boolean
  /** A phrase of options.md and of editors. */
  readonly description: string
  /** Absent where its members have their own. */
  readonly example?: Value | undefined
  /** The value has been checked. */
  test(value: Value, rule: WithinRule): Test
}

/** A row for each word of a match, or of a part of one. */
export type WordsOf<Match> = { readonly [Word in keyof Match]-?: MatchWord<NonNullable<Match[Word]>> }

/** A way to find a rule. */
export interface Way {
  /** The member of the value whose own keys these are; absent: those of the word. */
  readonly member?: string | undefined
  /** A list for each part of the value: a request that matches the part has every key of its list. */
  readonly parts: readonly (readonly IndexKey[])[]
}

/** How rules are found by a word. */
export interface WordIndex<Value> {
  /** All ways to find a rule with the value; none where no key is in every request that matches. */
  waysOf(value: Value): readonly Way[]
  /** Keys of a request, or of a member of it; `undefined` where it may match any rule. */
  keysFor(inspection: Inspection, asked: Asked, member: string | undefined): readonly IndexKey[] | undefined
}

/** The one way of a word; none where a part has no key. */
export function oneWay(parts: readonly (readonly IndexKey[])[], member?: string): readonly Way[] {
  return parts.some(({ length }) => length === 0) ? [] : [{ parts, ...(member !== undefined && { member }) }]
}

/** An index by the values of a list, of which a request has `read`; none by `any`, nor by what a list holds. */
export function valueIndex(
  read: (inspection: Inspection, asked: Asked) => string | number | undefined,
  fold: (value: string) => string = String,
  any?: string,
): WordIndex<readonly (string | number)[]> {
  return {
    waysOf: (values) =>
      oneWay(values.map((value) => (value === any || String(value).startsWith('list:') ? [] : [fold(String(value))]))),
    keysFor(inspection, asked) {
      const value = read(inspection, asked)
      return value === undefined ? [] : [fold(String(value))]
    },
  }
}

/** The context that a test has from its rule. */
export interface WithinRule {
  readonly id: string
  readonly action: Action
  /** The rule says `trustClaim`. */
  readonly trustsClaims?: boolean | undefined
  readonly splitter: PathSplitter
  readonly surroundings: Surroundings
  /** Returns what `make` made for a key, which all rules of the policy share. */
  readonly once: Once
}

export type Once = <Made>(key: string, make: () => Made) => Made

/** Keeps things that the rules of one policy share. */
export function createOnce(): Once {
  const made = new Map<string, unknown>()
  return <Made>(key: string, make: () => Made) => {
    if (!made.has(key)) made.set(key, make())
    return made.get(key) as Made
  }
}

/**
 * Reports whether a rule may match by the name that a client has. Anybody can claim one, so a permission needs proof, or a
 * rule that trusts claims and one that nothing disproves.
 */
export function mayRestOn({ agent, crawler }: Inspection, { action, trustsClaims }: WithinRule): boolean {
  if (action !== 'allow' || agent.identity?.verified === true) return true
  return trustsClaims === true && agent.class !== 'impostor' && crawler?.forged !== true
}
