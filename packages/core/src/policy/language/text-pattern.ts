import { finish, STEP, type Steps } from '../../steps.ts'
import { compileExpression } from './expression.ts'
import { type Fault, faultsAt, unknown } from './fault.ts'
import { compileGlob, splitGlob, type TextTest } from './glob.ts'
import { listName, type NamedList, type Surroundings } from './surroundings.ts'
import { collectFaults, texts, type Values } from './values.ts'

const FLAGS = /^[a-z]*$/

/** Returns the parts of a pattern that is written as `/…/` or `/…/i`. */
function expressionIn(pattern: string): { readonly source: string; readonly flags: string } | undefined {
  const end = pattern.lastIndexOf('/')
  const flags = pattern.slice(end + 1)
  return pattern.startsWith('/') && end > 1 && FLAGS.test(flags) ? { source: pattern.slice(1, end), flags } : undefined
}

/** Reports whether a text has what only an expression has: an escaped sign that is no star, an anchor, branches, `[bB]`. */
export function isBareExpression(text: string): boolean {
  return BARE_EXPRESSION.test(text) && !/^\/.*\/i?$/.test(text)
}

const BARE_EXPRESSION = /^\^|\$$|^\.\*|\w\|\w|\(\?[:i!=<]|\\[^*\\]|\[(\w)\1\]/i

/** Limits the characters of a pattern. */
const MAX_PATTERN = 1_000

export function patternFault(pattern: string): string | undefined {
  if (pattern === '') return unknown(pattern)
  if (pattern.length > MAX_PATTERN) return `the pattern has ${pattern.length} characters; the maximum is ${MAX_PATTERN}`
  const expression = expressionIn(pattern)
  if (expression === undefined) return undefined
  const compiled = compileExpression(expression.source, expression.flags)
  return 'fault' in compiled ? `${JSON.stringify(pattern)}: ${compiled.fault}` : undefined
}

/** Lists patterns of a text: globs, which ignore case, or `/…/`, which ignores it only with `i`. */
export const PATTERNS = texts(patternFault)

/** Folds the values of one field of a request once for all rules that read them. */
export class Texts {
  readonly written: readonly string[]
  readonly folded: readonly string[]
  #joined: string | undefined

  constructor(written: readonly string[]) {
    this.written = written
    this.folded = written.map((text) => text.toLowerCase())
  }

  /** Reports whether one of some texts may be in a value; it searches all values at once. */
  mayHave(needles: readonly string[]): boolean {
    this.#joined ??= this.folded.join('\n')
    const joined = this.#joined
    return needles.some((needle) => joined.includes(needle))
  }
}

/** Reports whether a pattern matches a text, of which `folded` is the lower case. */
export type PatternTest = (text: string, folded?: string) => boolean

/** Compiles patterns, and the lists that they name, to one test. All have been checked. */
export function compilePatterns(given: readonly string[], surroundings?: Surroundings): PatternTest {
  return finish(patternSteps(given, surroundings))
}

export function* patternSteps(given: readonly string[], { lists }: Surroundings = {}): Steps<PatternTest> {
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
  const [literal = ''] = whole
  const tests: readonly FoldedTest[] = [
    ...(whole.size === 1 ? [(folded: string) => folded === literal] : []),
    ...(whole.size > 1 ? [(folded: string) => whole.has(folded)] : []),
    ...globs,
    ...expressions.map((matches) => (_: string, text: string) => matches(text)),
    ...named.map((list) => (_: string, text: string) => list.matches(text)),
  ]
  const [only] = tests
  if (only !== undefined && tests.length === 1) return (text, folded = text.toLowerCase()) => only(folded, text)
  return (text, folded = text.toLowerCase()) => {
    for (const matches of tests) if (matches(folded, text)) return true
    return false
  }
}

type FoldedTest = (folded: string, text: string) => boolean

/** Compiling these expressions takes as long as a step of any other pattern. */
const EXPRESSION_STEP = 16

/** Returns letters of which every matching text has some; `undefined` where a pattern is not that simple. */
export function listNeedles(given: readonly string[]): readonly string[] | undefined {
  const needles = given.map((pattern) =>
    expressionIn(pattern) !== undefined || listName(pattern) !== undefined
      ? ''
      : splitGlob(pattern.toLowerCase()).reduce((one, other) => (other.length > one.length ? other : one)),
  )
  return needles.includes('') ? undefined : needles
}

/** Reports whether a pattern matches exactly one text. */
export function isLiteral(pattern: string): boolean {
  return !/[*\\]/.test(pattern) && expressionIn(pattern) === undefined && listName(pattern) === undefined
}

export type NamedPatterns = Readonly<Record<string, readonly string[]>>

/** Lists patterns of values by their names, all of which must hold; `nameFault` judges a name. */
export function namedPatterns(nameFault: (name: string) => string | undefined): Values<NamedPatterns> {
  return {
    shape: 'named',
    faults(given): readonly Fault[] {
      const names = Object.keys(given)
      if (names.length === 0) return [{ path: [], message: 'it names nothing' }]
      return Object.entries(given).flatMap(([name, patterns]) => {
        const fault = nameFault(name)
        // A value may be empty.
        const own = fault === undefined ? [] : [{ path: [], message: fault }]
        const ofValues = collectFaults(patterns, (pattern) => (pattern === '' ? undefined : patternFault(pattern)))
        return faultsAt([name], [...own, ...ofValues])
      })
    },
  }
}
