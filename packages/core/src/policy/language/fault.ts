import { suggestion } from '../../nearest-word.ts'

/** Marks an invalid member of a rule, of a word of its match, or of `strikes`. */
export interface Fault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Marks an invalid word of a policy. */
export interface PolicyFault {
  /** The path that leads to it in the policy is `['rules', 0, 'match', 'country', 1]` or the like. */
  readonly path: readonly (string | number)[]
  /** The rule has this id; absent outside of rules. */
  readonly rule?: string | undefined
  readonly message: string
}

/** Writes the message about an unknown value, with the nearest of `known`, or all of them where they are few. */
export function unknown(value: unknown, known?: readonly string[]): string {
  return `${JSON.stringify(value)} is unknown${known === undefined ? '' : suggestion(String(value), known)}`
}

/** Writes the same message; returns `undefined` for a known word. */
export function wordFault(word: string, known: readonly string[]): string | undefined {
  return known.includes(word) ? undefined : unknown(word, known)
}
