import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { RE2JS } from 're2js'
import { errorText } from '../../error-text.ts'
import type { TextTest } from './glob.ts'

/** Characters of a text that the linear engine reads: some 50 µs at the most. */
export const LINEAR_CHARACTERS = 1_024

/** Most ways on which V8 may have to try an expression at each place of a text, and most branches of one group. */
const MAX_WAYS = 8
const MAX_BRANCHES = 32

const parser = new RegExpParser({ ecmaVersion: 2024 })

/** An expression that is ready, or why there is none. */
export type CompiledExpression = { readonly test: TextTest } | { readonly fault: string }

/**
 * Compiles a regular expression that no text makes slow: V8 runs what is shown to be harmless, an engine without steps back
 * the rest, over the first `LINEAR_CHARACTERS` of a text. `i` is the one flag; neither has what looks back or ahead.
 */
export function compileExpression(source: string, flags: string): CompiledExpression {
  if (flags !== '' && flags !== 'i') return { fault: `the flag "${flags}" is unknown: i alone, which sets case aside` }
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
 * Harmless is what V8 answers in time that grows as the text does: no repetition within another, few ways to try, and at
 * most one repetition without an end, which begins at one place.
 */
function look(pattern: AST.Pattern): { readonly fault?: string | undefined; readonly harmless: boolean } {
  let fault: string | undefined
  let nested = false
  let ways = 1
  let widest = pattern.alternatives.length
  let endless = 0
  let depth = 0
  const branches = ({ alternatives: { length } }: { readonly alternatives: readonly unknown[] }) => {
    // The widest group is tried branch by branch; each other one multiplies what is tried.
    ways *= Math.min(widest, length)
    widest = Math.max(widest, length)
  }
  visitRegExpAST(pattern, {
    onBackreferenceEnter() {
      fault ??= 'a backreference can take for ever: write the repeated text'
    },
    onAssertionEnter({ kind }) {
      if (kind === 'lookahead' || kind === 'lookbehind') {
        fault ??= `a ${kind} can take for ever; say it with another pattern, or with not`
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
