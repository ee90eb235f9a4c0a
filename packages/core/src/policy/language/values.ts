import { type Fault, unknown, wordFault } from './fault.ts'

/** The values that a word can have. */
export interface Values<Value> {
  readonly shape: Shape
  /** Returns what cannot be meant, by its place within the value. */
  faults(value: Value): readonly Fault[]
}

/** The form of a value in configurations: one of some kinds, a list of words of a closed list, or named members. */
export type Shape =
  | 'text'
  | 'texts'
  | 'numbers'
  | 'flag'
  | 'share'
  | 'points'
  | 'level'
  /** As `share`, but also above 1. */
  | 'ratio'
  /** Texts by names of the user's own. */
  | 'named'
  /** Conditions of a rule, without a negation. */
  | 'match'
  | { readonly words: readonly string[] }
  /** `word` stands in place of the members. */
  | { readonly members: Readonly<Record<string, Member>>; readonly word?: string | undefined }

/** One member of a value, with its row of options.md; `absent` is what holds without it, by default `any`. */
export interface Member {
  readonly shape: Shape
  readonly description: string
  readonly absent?: string | undefined
  readonly example: unknown
}

/** A method, or the name of a header or a cookie (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

export function tokenFault(name: string): string | undefined {
  return TOKEN.test(name) ? undefined : unknown(name)
}

/** A list of texts, each judged by `faultOf`: a text that nothing ever has would stop nothing. */
export function texts(faultOf: (text: string) => string | undefined): Values<readonly string[]> {
  return { shape: 'texts', faults: (given) => collectFaults(given, faultOf) }
}

/** A list of words of a closed list. */
export function someOf<Word extends string>(known: readonly Word[]): Values<readonly Word[]> {
  return {
    shape: { words: known },
    faults: (given) => collectFaults(given, (word) => wordFault(String(word), known)),
  }
}

/** The faults of a list, each at its index. */
export function collectFaults<Item>(
  given: readonly Item[],
  faultOf: (item: Item) => string | undefined,
): readonly Fault[] {
  return given.flatMap((item, index) => {
    const message = faultOf(item)
    return message === undefined ? [] : [{ path: [index], message }]
  })
}

/** A set of names whose case does not count; it is asked in lower case. */
export function foldedSet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(folded))
}

export function folded(name: string): string {
  return name.toLowerCase()
}
