import { type Fault, faultsAt, unknown, wordFault } from './fault.ts'

export interface Values<Value> {
  readonly shape: Shape
  /** Returns the invalid parts, by their place within the value. */
  faults(value: Value): readonly Fault[]
}

/** Names the form of a value in configurations: one of some kinds, a list of words of a closed list, or named members. */
export type Shape =
  | 'text'
  | 'texts'
  | 'numbers'
  | 'flag'
  | 'share'
  | 'points'
  | 'level'
  | 'pages'
  /** Like `share`, but also above 1. */
  | 'ratio'
  /** The user names these texts. */
  | 'named'
  /** Holds conditions of a rule, without a negation. */
  | 'match'
  | { readonly words: readonly string[] }
  /** Names of a closed list have flags. */
  | { readonly flags: readonly string[] }
  /** `word` may take the place of the members. */
  | { readonly members: Readonly<Record<string, Member>>; readonly word?: string | undefined }

/** Describes one member of a value, with its row of options.md; `absent` is its default, `any` if missing. */
export interface Member {
  readonly shape: Shape
  readonly description: string
  readonly absent?: string | undefined
  readonly example: unknown
}

/** Matches a method, or the name of a header or a cookie (RFC 9110 section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

export function tokenFault(name: string): string | undefined {
  return TOKEN.test(name) ? undefined : unknown(name)
}

/** Makes a list of texts, each judged by `findFault`: a text that no value can have would stop nothing. */
export function texts(findFault: (text: string) => string | undefined): Values<readonly string[]> {
  return { shape: 'texts', faults: (given) => collectFaults(given, findFault) }
}

/** Makes named lists of texts, each judged by `findFault`. */
export function namedTexts<Name extends string>(
  findFault: (text: string) => string | undefined,
  rows: Readonly<Record<Name, Omit<Member, 'shape'>>>,
): Values<{ readonly [Member in Name]?: readonly string[] | undefined }> {
  const members = Object.entries<Omit<Member, 'shape'>>(rows)
  return {
    shape: { members: Object.fromEntries(members.map(([name, row]) => [name, { shape: 'texts', ...row }])) },
    faults: (given) =>
      members.flatMap(([name]) => faultsAt([name], collectFaults(given[name as Name] ?? [], findFault))),
  }
}

export function anyWord<Word extends string>(known: readonly Word[]): Values<readonly Word[]> {
  return {
    shape: { words: known },
    faults: (given) => collectFaults(given, (word) => wordFault(String(word), known)),
  }
}

/** Makes flags of a closed list, at least one of them. */
export function someFlags<Name extends string>(
  known: readonly Name[],
): Values<{ readonly [Flag in Name]?: boolean | undefined }> {
  return {
    shape: { flags: known },
    faults(given) {
      const names = Object.keys(given)
      if (names.length === 0) return [{ path: [], message: `has none of ${known.join(', ')}` }]
      return names.flatMap((name) => {
        const message = wordFault(name, known)
        return message === undefined ? [] : [{ path: [name], message }]
      })
    },
  }
}

/** Returns the faults of a list, each at its index. */
export function collectFaults<Item>(
  given: readonly Item[],
  findFault: (item: Item) => string | undefined,
): readonly Fault[] {
  return given.flatMap((item, index) => {
    const message = findFault(item)
    return message === undefined ? [] : [{ path: [index], message }]
  })
}

/** Makes a set of names that ignores case; look names up in lower case. */
export function foldedSet(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()))
}
