import { suggestion } from '../../nearest-word.ts'

/** Marks an invalid member of a rule, of a word of its match, or of `strikes`. */
export interface Fault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** The path that leads to it in the policy is `['rules', 0, 'match', 'country', 1]` or the like. */
export interface PolicyFault extends Fault {
  /** The rule has this id; absent outside of rules. */
  readonly rule?: string | undefined
}

/** Writes the message about an unknown value, with the nearest of `known`, or all of them where they are few. */
export function unknown(value: unknown, known?: readonly string[]): string {
  return `${JSON.stringify(value)} is unknown${known === undefined ? '' : suggestion(String(value), known)}`
}

/** Writes the same message; returns `undefined` for a known word. */
export function wordFault(word: string, known: readonly string[]): string | undefined {
  return known.includes(word) ? undefined : unknown(word, known)
}

export function faultsAt<Found extends Fault>(place: Fault['path'], faults: readonly Found[]): readonly Found[] {
  return faults.map((fault) => ({ ...fault, path: [...place, ...fault.path] }))
}

/** Places the faults of a rule in its policy. */
export function ruleFaultsAt(index: number, { id }: { readonly id: string }, faults: readonly Fault[]) {
  return faultsAt(['rules', index], faults).map((fault): PolicyFault => ({ ...fault, rule: id }))
}

/** A member of a configuration has a value of a closed list, or is absent. */
export type ClosedMember = readonly [
  path: Fault['path'],
  value: string | number | undefined,
  known: readonly (string | number)[],
]

export function closedFaults(members: readonly ClosedMember[]): readonly Fault[] {
  return members.flatMap(([path, value, known]) =>
    value === undefined || known.includes(value) ? [] : [{ path, message: unknown(value, known.map(String)) }],
  )
}
