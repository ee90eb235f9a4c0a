import type { Asked } from '../language/asked.ts'
import type { Surroundings } from '../language/surroundings.ts'
import { compilePatterns, listNeedles, type NamedPatterns, PATTERNS, Texts } from '../language/text-pattern.ts'
import { joinTests, type MatchWord, type Test } from './match-word.ts'

/** Histories do not keep what these rows read. */
export const OF_FIELDS = { asks: 'parts', mayLack: true } as const

/** Finds the values of a field; `undefined` where the source of the request does not keep it. */
type FindValues = (asked: Asked) => readonly string[] | undefined

interface TextOptions {
  /** True where every value must match to earn permission, which is the default. */
  readonly isEach?: boolean | undefined
  /** Writes a pattern as values are written. */
  readonly write?: ((pattern: string) => string) | undefined
}

/** Returns a row for patterns of the values that `find` finds. */
export function textWord(
  find: FindValues,
  row: Pick<MatchWord<readonly string[]>, 'description' | 'example' | 'claim'>,
  { isEach = true, write = (pattern) => pattern }: TextOptions = {},
): MatchWord<readonly string[]> {
  const read = readTexts(find)
  return {
    ...OF_FIELDS,
    ...row,
    values: PATTERNS,
    test(given, { action, surroundings }) {
      const wanted = compileWanted(given.map(write), surroundings, isEach && action === 'allow')
      return (inspection, asked) => agree(asked.once(read, inspection), wanted)
    },
  }
}

export function readTexts(find: FindValues): (asked: Asked) => Texts | undefined {
  return (asked) => {
    const values = find(asked)
    return values && new Texts(values)
  }
}

type Wanted = ReturnType<typeof compileWanted>

export function compileWanted(given: readonly string[], surroundings: Surroundings, every: boolean) {
  return { matches: compilePatterns(given, surroundings), needles: listNeedles(given), every }
}

/**
 * Compares values with patterns. Several values of one field are evidence of a client that hides: one match is enough to flag or block, and
 * `every` value must match to earn permission.
 */
export function agree(texts: Texts | undefined, { matches, needles, every }: Wanted): boolean | undefined {
  if (texts === undefined) return undefined
  const { written, folded } = texts
  if (written.length >= MANY_VALUES && needles !== undefined && !texts.mayHave(needles)) return false
  for (let at = 0; at < written.length; at++) {
    if (matches(written[at] as string, folded[at] as string) !== every) return !every
  }
  return every && written.length > 0
}

/** A client can write thousands of values: from this number on, they are searched as one text before each is compared. */
const MANY_VALUES = 16

export function field(name: string): FindValues {
  return (asked) => (asked.keeps(name) ? asked.values(name) : undefined)
}

export const NONE: readonly string[] = []

/** Finds the values of a name; `undefined` where the source of the request does not keep it. */
type FindNamed = (asked: Asked, name: string) => readonly string[] | undefined

/**
 * Returns a row for named values, each with patterns; `kind` tells the values of one word from those of another. Servers read names and
 * values in different ways: a permission needs the `exact` value, and no value that `wide` finds may differ.
 */
export function namedWord(
  kind: string,
  { exact, wide }: { readonly exact: FindNamed; readonly wide: FindNamed },
  row: Pick<MatchWord<NamedPatterns>, 'values' | 'description' | 'example' | 'claim'>,
): MatchWord<NamedPatterns> {
  return {
    ...OF_FIELDS,
    ...row,
    test(given, { action, surroundings, once }) {
      const every = action === 'allow'
      const tests = Object.entries(given).map(([name, patterns]): Test => {
        const readExact = once(`${kind} ${name}`, () => readTexts((asked) => exact(asked, name)))
        const readWide = once(`wide ${kind} ${name}`, () => readTexts((asked) => wide(asked, name)))
        const wanted = compileWanted(patterns, surroundings, every)
        return (inspection, asked) => {
          const certain = every ? agree(asked.once(readExact, inspection), wanted) : true
          return certain === true ? agree(asked.once(readWide, inspection), wanted) : certain
        }
      })
      return joinTests(tests)
    },
  }
}
