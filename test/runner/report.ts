import { inspect } from 'node:util'
import type { Failure, Outcome } from './run-group.ts'

const MAX_FAILURES = 40
const MAX_LINES = 30

/** One line of a process that ended, and the names of what failed in it. */
export function writeLine({ name, passed, skipped, failures, seconds, peakMb }: Outcome): string {
  const counts = `${String(passed).padStart(6)} passed ${String(skipped).padStart(4)} skipped`
  const outcome = failures.length === 0 ? 'ok    ' : 'FAILED'
  const line = `${outcome} ${name.padEnd(24)}${counts} ${seconds.toFixed(1).padStart(6)} s ${peakMb} MB`
  return [line, ...failures.map(({ name }) => `       ${name}`)].slice(0, MAX_LINES).join('\n')
}

/**
 * Writes every failure with what was expected, the failures of groups that were `unsteady`, because they passed when they ran alone, and
 * the last line: "N passed, N failed, N skipped".
 */
export function writeSummary(outcomes: readonly Outcome[], unsteady: readonly Outcome[] = []): string {
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0)
  const failures = outcomes.flatMap(writeFailures)
  const more = failures.length > MAX_FAILURES ? [`\nand ${failures.length - MAX_FAILURES} more`] : []
  const others = unsteady.flatMap(writeFailures).map((text) => `\npassed alone, failed beside the others:${text}`)
  const [passed, skipped] = [sum((outcome) => outcome.passed), sum((outcome) => outcome.skipped)]
  const counts = `${passed} passed, ${failures.length} failed, ${skipped} skipped`
  return [...failures.slice(0, MAX_FAILURES), ...others, ...more, '', counts].join('\n')
}

function writeFailures({ name: group, failures }: Outcome): readonly string[] {
  return failures.map((failure) => `\n${group}: ${failure.name}\n${trimSaid(failure)}`)
}

function trimSaid({ said }: Failure): string {
  const told = Object.entries(said ?? {}).filter(([name]) => name !== 'source')
  const texts = told.map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? value : inspect(value, { depth: 6, breakLength: 200 })}`.trimEnd()
  })
  const lines = texts.join('\n').split('\n').slice(0, MAX_LINES)
  return lines.map((line) => `    ${line.slice(0, 300)}`).join('\n')
}
