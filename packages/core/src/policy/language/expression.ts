import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { RE2JS } from 're2js'
import { errorText } from '../../error-text.ts'
import type { TextTest } from './glob.ts'

/** Limits the characters of a text that the linear engine reads, in some 50 µs. */
export const LINEAR_CHARACTERS = 1_024

/** Limits the ways that V8 may try at each place of a text, and the branches of one group. */
const MAX_WAYS = 8
const MAX_BRANCHES = 32

const parser = new RegExpParser({ ecmaVersion: 2024 })

export type CompiledExpression = { readonly test: TextTest } | { readonly fault: string }

/**
 * Compiles a regular expression that no text makes slow. V8 runs expressions that are shown to be harmless; an engine without backtracking
 * runs the rest, over the first `LINEAR_CHARACTERS` of a text. `i` is the only flag; neither engine accepts lookaround or backreferences.
 */
export function compileExpression(source: string, flags: string): CompiledExpression {
  if (flags !== '' && flags !== 'i') return { fault: `the flag "${flags}" is unknown. Use i, which ignores case` }
  let pattern: AST.Pattern
  try {
    pattern = parser.parsePattern(source)
  } catch (error) {
    return { fault: describeFault(error) }
  }
  const { fault, harmless } = look(pattern)
  if (fault !== undefined) return { fault }
  if (harmless) {
    const expression = new RegExp(source, flags)
    return { test: (text) => expression.test(text) }
  }
  try {
    const linear = RE2JS.compile(RE2JS.translateRegExp(source), flags === 'i' ? RE2JS.CASE_INSENSITIVE : 0)
    return { test: (text) => linear.test(text.slice(0, LINEAR_CHARACTERS)) }
  } catch (error) {
    return { fault: describeFault(error) }
  }
}

function describeFault(error: unknown): string {
  const text = errorText(error)
  const place = text.lastIndexOf('/: ')
  return place === -1 ? text : text.slice(place + 3)
}

/**
 * Finds harmless expressions, which V8 answers in time linear in the text: no repetition within another, few ways to try, and at most one
 * repetition without an end, which begins at one place.
 */
function look(pattern: AST.Pattern): { readonly fault?: string | undefined; readonly harmless: boolean } {
  let fault: string | undefined
  let nested = false
  let ways = 1
  let widest = pattern.alternatives.length
  let endless = 0
  let depth = 0
  const branches = ({ alternatives: { length } }: { readonly alternatives: readonly unknown[] }) => {
    // The widest group is tried branch by branch; each other group multiplies the attempts.
    ways *= Math.min(widest, length)
    widest = Math.max(widest, length)
  }
  visitRegExpAST(pattern, {
    onBackreferenceEnter() {
      fault ??= 'backreferences are not supported, because matching could take unbounded time. Write the repeated text'
    },
    onAssertionEnter({ kind }) {
      if (kind === 'lookahead' || kind === 'lookbehind') {
        fault ??= `a ${kind} is not supported, because matching could take unbounded time. Use another pattern, or not`
      }
    },
    onGroupEnter: branches,
    onCapturingGroupEnter: branches,
    onQuantifierEnter({ min, max }) {
      if (depth > 0) nested = true
      depth++
      if (max === Number.POSITIVE_INFINITY) endless++
      else ways *= max - min + 1
    },
    onQuantifierLeave() {
      depth--
    },
  })
  const anchored = pattern.alternatives.every(
    ({ elements: [first] }) => first?.type === 'Assertion' && first.kind === 'start',
  )
  const bounded = endless === 0 || (endless === 1 && anchored)
  return { fault, harmless: !nested && ways <= MAX_WAYS && widest <= MAX_BRANCHES && bounded }
}
