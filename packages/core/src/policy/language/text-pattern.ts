import { finish, STEP, type Steps } from '../../steps.ts'
import { compileExpression, literalsOf } from './expression.ts'
import { type Fault, unknown } from './fault.ts'
import { compileGlob, partsOf, type TextTest } from './glob.ts'
import { listName, type NamedList, type Surroundings } from './surroundings.ts'
import { faultsOf, type IndexKey, type Values } from './values.ts'

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
}

/** A text without its case, which many rules ask about one after the other. */
export class FoldedText {
  #text = ''
  #folded = ''

  of(text: string): string {
    if (text !== this.#text) {
      this.#text = text
      this.#folded = text.toLowerCase()
    }
    return this.#folded
  }
}

/** Whether one of some patterns, or of the lists that they name, matches a text. All have been checked. */
export function compilePatterns(given: readonly string[], surroundings?: Surroundings, folded?: FoldedText): TextTest {
  return finish(patternSteps(given, surroundings, folded))
}

/** The same in steps, for very many of them. */
export function* patternSteps(
  given: readonly string[],
  { lists }: Surroundings = {},
  fold: Pick<FoldedText, 'of'> = UNSHARED,
): Steps<TextTest> {
  const whole = new Set<string>()
  const globs: TextTest[] = []
  const expressions: TextTest[] = []
  const named: NamedList[] = []
  for (let at = 0; at < given.length; at++) {
    const pattern = given[at] as string
    const name = listName(pattern)
    const list = name === undefined ? undefined : lists?.get(name)
    const expression = expressionIn(pattern)
    if (at % (expression === undefined ? STEP : EXPRESSION_STEP) === 0) yield
    if (list !== undefined) named.push(list)
    else if (expression !== undefined) {
      const compiled = compileExpression(expression.source, expression.flags)
      if ('test' in compiled) expressions.push(compiled.test)
    } else if (isLiteral(pattern)) whole.add(pattern.toLowerCase())
    else globs.push(compileGlob(pattern.toLowerCase()))
  }
  return (text) => {
    if (whole.size > 0 || globs.length > 0) {
      const folded = fold.of(text)
      if (whole.has(folded) || globs.some((matches) => matches(folded))) return true
    }
    return expressions.some((matches) => matches(text)) || named.some((list) => list.matches(text))
  }
}

const UNSHARED: Pick<FoldedText, 'of'> = { of: (text) => text.toLowerCase() }

/** Expressions that take as long to compile as a step of anything else. */
const EXPRESSION_STEP = 16

/** Whether a pattern is one text. */
export function isLiteral(pattern: string): boolean {
  return !/[*\\]/.test(pattern) && expressionIn(pattern) === undefined && listName(pattern) === undefined
}

/** Letters of a text that rules are found by. */
const GRAM = 4

/** For each alternative of a pattern the runs of letters that every text which matches it has, as numbers, or the whole of a short text. */
export function textKeys(pattern: string): readonly (readonly IndexKey[])[] {
  if (listName(pattern) !== undefined) return [[]]
  if (isLiteral(pattern)) return [keysOfText(pattern) ?? []]
  const source = expressionIn(pattern)?.source
  const alternatives = source === undefined ? [partsOf(pattern)] : literalsOf(source)
  return alternatives.map((literals) => literals.flatMap((literal) => gramsOf(literal) ?? []))
}

/** The longest head of a request: to take longer texts apart would cost more than to ask every rule. */
const MAX_GRAMS = 16_384

/** The long s, which some engines take for an s where case is set aside, and that. */
const LONG_S = 0x17f
const SHORT_S = 115

/** The keys of a text: its runs of letters, or the whole of a shorter one; `undefined` for a long text. */
export function keysOfText(text: string): readonly IndexKey[] | undefined {
  const folded = text.toLowerCase()
  return folded.length < GRAM ? [folded] : gramsOf(text)
}

/** All runs of as many letters of a text, each a number of seven bits a letter; `undefined` for a long text. */
export function gramsOf(text: string): readonly number[] | undefined {
  if (text.length > MAX_GRAMS) return undefined
  const folded = text.toLowerCase()
  const grams: number[] = []
  let gram = 0
  for (let at = 0; at < folded.length; at++) {
    const code = folded.charCodeAt(at)
    gram = ((gram << 7) | (code === LONG_S ? SHORT_S : code & 127)) & 0xfffffff
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
  }
}
