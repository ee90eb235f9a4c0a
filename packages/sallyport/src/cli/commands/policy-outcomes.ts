import { escapeHtml } from '@sallyport/proxy/internal'
import { dim } from '../terminal/terminal.ts'

/** The outcome of one expectation; `wrong` has a line for each member that differs. */
export interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly wrong: readonly string[]
  /** Names rules that the described request leaves open, and why. */
  readonly unjudged: readonly string[]
}

/** Matches characters that begin another line, control a terminal, or are not allowed in XML. */
const UNPRINTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]+/gu

function plain(text: string): string {
  return text.replace(UNPRINTED, ' ')
}

/** Test runners read these forms: the Test Anything Protocol 14, and JUnit's XML. */
export const OUTCOME_FORMS = { tap: formatTap, junit: formatJunit } as const

export function formatOutcome({ name, passed, wrong, unjudged }: Outcome, verbose: boolean): string {
  const line = plain(passed ? `ok      ${name}` : `failed  ${name}: ${wrong.join('; ')}`)
  const notes = verbose ? unjudged.map((text) => dim(`        not evaluated: ${text}`)) : []
  return [line, ...notes].join('\n')
}

function formatTap(outcomes: readonly Outcome[]): string {
  const lines = outcomes.flatMap(({ name, passed, wrong }, at) => [
    `${passed ? 'ok' : 'not ok'} ${at + 1} - ${plain(name).replace(/[\\#]/g, '\\$&')}`,
    ...wrong.map((text) => `# ${plain(text)}`),
  ])
  return ['TAP version 14', `1..${outcomes.length}`, ...lines].join('\n')
}

function formatJunit(outcomes: readonly Outcome[]): string {
  const failures = outcomes.filter(({ passed }) => !passed).length
  const cases = outcomes.map(({ name, wrong }) => {
    const messages = wrong.map((text) => `<failure message="${escapeHtml(plain(text))}"/>`).join('')
    return `  <testcase classname="policy" name="${escapeHtml(plain(name))}">${messages}</testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="policy" tests="${outcomes.length}" failures="${failures}">`,
    ...cases,
    '</testsuite>',
  ].join('\n')
}
