import { type Fault, unknown } from './fault.ts'
import { faultsOf, type Values } from './match-word.ts'
import { compileExpression, literalsOf } from './patterns/expression.ts'
import { compileGlob, literalOf, type TextTest } from './patterns/glob.ts'
import { listName, type NamedList, type Surroundings } from './surroundings.ts'

const FLAGS = /^[a-z]*$/

/** Returns the parts of a pattern that is written as `/…/` or `/…/i`. */
function expressionIn(pattern: string): { readonly source: string; readonly flags: string } | undefined {
  const end = pattern.lastIndexOf('/')
  const flags = pattern.slice(end + 1)
  return pattern.startsWith('/') && end > 1 && FLAGS.test(flags) ? { source: pattern.slice(1, end), flags } : undefined
}

/** Characters of a pattern. */
const MAX_PATTERN = 1_000

/** Returns why a pattern is none. */
export function patternFault(pattern: string): string | undefined {
  if (pattern === '') return unknown(pattern)
  if (pattern.length > MAX_PATTERN) return `a pattern has at most ${MAX_PATTERN} characters, this one ${pattern.length}`
  const expression = expressionIn(pattern)
  if (expression === undefined) return undefined
  const compiled = compileExpression(expression.source, expression.flags)
  return 'fault' in compiled ? `${JSON.stringify(pattern)}: ${compiled.fault}` : undefined
}

/** Patterns of a text: globs, whose case does not count, or `/…/`, in which it does without `i`. */
export const PATTERNS: Values<readonly string[]> = {
  shape: 'texts',
  faults: (given) => faultsOf(given, patternFault),
  matchesAll: () => false,
}

/** Whether one of some patterns, or of the lists that they name, matches a text. All have been checked. */
export function compilePatterns(given: readonly string[], { lists }: Surroundings = {}): TextTest {
  const whole = new Set<string>()
  const globs: TextTest[] = []
  const expressions: TextTest[] = []
  const named: NamedList[] = []
  for (const pattern of given) {
    const name = listName(pattern)
    const list = name === undefined ? undefined : lists?.get(name)
    const expression = expressionIn(pattern)
    if (list !== undefined) named.push(list)
    else if (expression !== undefined) {
      const compiled = compileExpression(expression.source, expression.flags)
      if ('test' in compiled) expressions.push(compiled.test)
    } else if (isLiteral(pattern)) whole.add(pattern.toLowerCase())
    else globs.push(compileGlob(pattern.toLowerCase()))
  }
  return (text) => {
    if (whole.size > 0 || globs.length > 0) {
      const folded = text.toLowerCase()
      if (whole.has(folded) || globs.some((matches) => matches(folded))) return true
    }
    return expressions.some((matches) => matches(text)) || named.some((list) => list.matches(text))
  }
}

/** Whether a pattern is one text. */
export function isLiteral(pattern: string): boolean {
  return !/[*\\]/.test(pattern) && expressionIn(pattern) === undefined && listName(pattern) === undefined
}

/** Letters of a text that rules are found by. */
const GRAM = 4

/** Runs of letters of which every text that matches a pattern has one, as numbers; `undefined` where none is so long. */
export function textKeys(pattern: string): readonly number[] | undefined {
  if (listName(pattern) !== undefined) return undefined
  const source = expressionIn(pattern)?.source
  const literals = source === undefined ? [literalOf(pattern)] : literalsOf(source)
  if (literals === undefined || literals.some(({ length }) => length < GRAM)) return undefined
  return literals.flatMap((literal) => gramsOf(literal.slice(0, GRAM)) ?? [])
}

/** Longer texts are looked at by every rule: to take them apart would cost more. */
const MAX_GRAMS = 2_048

/** All runs of as many letters of a text, each a number of seven bits a letter; `undefined` for a long text. */
export function gramsOf(text: string): readonly number[] | undefined {
  if (text.length > MAX_GRAMS) return undefined
  const folded = text.toLowerCase()
  const grams: number[] = []
  let gram = 0
  for (let at = 0; at < folded.length; at++) {
    gram = ((gram << 7) | (folded.charCodeAt(at) & 127)) & 0xfffffff
    if (at >= GRAM - 1) grams.push(gram)
  }
  return grams
}

/** Members with patterns, as `{ name: [patterns] }`. */
export type NamedPatterns = Readonly<Record<string, readonly string[]>>

/** Patterns of values by their names, all of which must hold; a name is judged by `nameFault`. */
export function namedPatterns(nameFault: (name: string) => string | undefined): Values<NamedPatterns> {
  return {
    shape: 'named',
    faults(given): readonly Fault[] {
      const names = Object.keys(given)
      if (names.length === 0) return [{ path: [], message: 'it names nothing' }]
      return Object.entries(given).flatMap(([name, patterns]) => {
        const fault = nameFault(name)
        // A value may be empty.
        const named = fault === undefined ? [] : [{ path: [name], message: fault }]
        return [
          ...named,
          ...faultsOf(patterns, (pattern) => (pattern === '' ? undefined : patternFault(pattern))).map(
            ({ path, message }) => ({ path: [name, ...path], message }),
          ),
        ]
      })
    },
    matchesAll: () => false,
  }
}
