import type { Inspection } from '../../values/inspection.ts'
import type { UnknownRegion } from '../../values/region.ts'
import type { Action } from '../../vocabulary.ts'
import type { Asked } from '../language/asked.ts'
import type { Surroundings } from '../language/surroundings.ts'
import type { Values } from '../language/values.ts'

/** Reports whether one member of a rule's match holds; `undefined` where that is unknown: then neither it nor its negation holds. */
export type Test = (inspection: Inspection, asked: Asked) => boolean | undefined

/** Describes one word of a match. Code that reads, checks, compiles or documents words uses this row and names no word itself. */
export interface MatchWord<Value> {
  readonly values: Values<Value>
  /**
   * The test reads this data: a sub-lookup, which may be missing, the agent, or the request, which alone differs between two requests of
   * one visitor. `parts` of a request (a path, a clock, the fields) cost most and are tested last.
   */
  readonly asks: 'asn' | 'geo' | 'agent' | 'request' | 'parts'
  /** Some sources of requests or of data lack what the word reads: then its result is unknown. */
  readonly mayLack?: boolean | undefined
  /** Any client can forge it: a rule that allows may not rest on such words alone. */
  readonly claim?: boolean | undefined
  /** Robots.txt can express a rule by it, because a crawler, a path and GET alone answer it. */
  readonly robots?: true | undefined
  /** Describes the word in options.md and in editors. */
  readonly description: string
  /** Absent where the members of the value have their own. */
  readonly example?: NoInfer<Value> | undefined
  /** Compiles a value that has been checked. */
  test(value: Value, rule: WithinRule): Test
}

/** Words with these members are about the client, and robots.txt can name it by them. */
export const OF_AGENT = { asks: 'agent', robots: true } as const

export function word<Value>(
  description: string,
  values: Values<Value>,
  row: Omit<MatchWord<Value>, 'description' | 'values'>,
): MatchWord<Value> {
  return { ...row, description, values }
}

/** Compiles a test whether the value that `read` reads is one of the given. */
export function testValue(given: readonly string[], read: (inspection: Inspection) => string | undefined): Test {
  const wanted = new Set<string | undefined>(given)
  return (inspection) => wanted.has(read(inspection))
}

/** Joins tests by "and": a failed test decides, otherwise an unknown one leaves the result open. */
export function joinTests(tests: readonly Test[]): Test {
  return (inspection, asked) => {
    let known = true
    for (const test of tests) {
      const holds = test(inspection, asked)
      if (holds === false) return false
      known &&= holds !== undefined
    }
    return known || undefined
  }
}

/** Has values of some words; an absent word matches all. */
export type MatchFields<Words> = {
  readonly [Name in keyof Words]?: (Words[Name] extends MatchWord<infer Value> ? Value : never) | undefined
}

export interface WithinRule {
  readonly id: string
  readonly action: Action
  readonly trustsClaims?: boolean | undefined
  /** Says whether the rule matches where the region is not known. */
  readonly unknown?: UnknownRegion | undefined
  readonly isNegated?: true | undefined
  readonly surroundings: Surroundings
  /** Returns what `make` made for a key, which all rules of the policy share. */
  readonly once: Once
}

export type Once = <Made>(key: string, make: () => Made) => Made

export function createOnce(): Once {
  const made = new Map<string, unknown>()
  return <Made>(key: string, make: () => Made) => {
    if (!made.has(key)) made.set(key, make())
    return made.get(key) as Made
  }
}

/**
 * Reports whether a rule may match by the name of a client. Any client can claim a name, so a permission needs proof, or a rule that trusts
 * claims and a name that nothing disproves.
 */
export function mayRestOn({ agent, crawler }: Inspection, { action, trustsClaims }: WithinRule): boolean {
  if (action !== 'allow' || agent.identity?.verified === true) return true
  return trustsClaims === true && agent.class !== 'impostor' && crawler?.forged !== true
}
