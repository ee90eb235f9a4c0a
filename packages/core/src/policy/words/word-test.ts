import type { Inspection } from '../../values/inspection.ts'
import type { Degraded } from '../../vocabulary.ts'
import { type Fault, faultsAt } from '../language/fault.ts'
import { findLists } from '../language/surroundings.ts'
import type { MatchWord, Test, WithinRule } from './match-word.ts'

export interface GivenWord {
  readonly name: string
  readonly value: unknown
  readonly word: MatchWord<unknown>
}

export function wordFaults(given: readonly GivenWord[]): readonly Fault[] {
  return given.flatMap(({ name, word, value }) => faultsAt([name], word.values.faults(value)))
}

/** Compiles a word. While a list that it names was never read, it is unknown whether the list has the value. */
export function compileWord({ word, value }: GivenWord, rule: WithinRule): Test {
  const test = word.test(value, rule)
  const lists = findLists(value, rule.surroundings)
  if (lists.length === 0) return test
  return (inspection, asked) => {
    const holds = test(inspection, asked)
    return holds === false && lists.some(({ isRead }) => !isRead) ? undefined : holds
  }
}

export function listNeeds(given: readonly GivenWord[]): readonly Degraded[] {
  return (['asn', 'geo'] as const).filter((need) => given.some(({ word }) => word.asks === need))
}

/**
 * Reports whether an inspection lacks the data that a word reads. A country may be known, or known to be in no table, where places are not,
 * and a reserved address has none, whatever is loaded.
 */
export function lacks(inspection: Inspection, need: Degraded): boolean {
  return inspection.degraded.includes(need) && !(need === 'geo' && isCountrySettled(inspection))
}

function isCountrySettled({ country, countryUnknown, network }: Inspection): boolean {
  return country !== undefined || countryUnknown === true || network.reserved.reserved
}
