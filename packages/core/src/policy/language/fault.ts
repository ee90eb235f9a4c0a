import { suggestion } from '../../nearest-word.ts'

/** A member that cannot be meant, within its rule, a word of its match, or `strikes`. */
export interface Fault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** A word of a policy that cannot be meant. */
export interface PolicyFault {
  /** Its place in the policy: `['rules', 0, 'match', 'country', 1]`. */
  readonly path: readonly (string | number)[]
  /** The id of its rule; absent outside of rules. */
  readonly rule?: string | undefined
  readonly message: string
}

/** The message about a value that is none; with the nearest of `known`, or all of them where they are few. */
export function unknown(value: unknown, known?: readonly string[]): string {
  return `${JSON.stringify(value)} is unknown${known === undefined ? '' : suggestion(String(value), known)}`
}

/** The same message; `undefined` for a word that is known. */
export function wordFault(word: string, known: readonly string[]): string | undefined {
  return known.includes(word) ? undefined : unknown(word, known)
}
