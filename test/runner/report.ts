import { inspect } from 'node:util'
import type { Failure, Outcome } from './run-group.ts'

const MAX_FAILURES = 40
const MAX_LINES = 30

/** One line of a process that ended, and the names of what failed in it. */
export function writeLine({ name, passed, skipped, failures, seconds, peakMb }: Outcome): string {
  const counts = `${String(passed).padStart(6)} passed ${String(skipped).padStart(4)} skipped`
  const line = `${failures.length === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(24)}${counts} ${seconds.toFixed(1).padStart(6)} s ${peakMb} MB`
  return [line, ...failures.map(({ name }) => `       ${name}`)].slice(0, MAX_LINES).join('\n')
}

/**
 * Writes every failure with what was expected, the failures of groups that were `unsteady`, because they passed when they ran alone, and
 * the last line: "N passed, N failed, N skipped".
 */
export function writeSummary(outcomes: readonly Outcome[], unsteady: readonly Outcome[] = []): string {
  const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0)
  const failures = outcomes.flatMap(listFailures)
  const told = [
    ...failures.slice(0, MAX_FAILURES).map(tellFailure),
    ...unsteady
      .flatMap(listFailures)
      .map((failure) => `\npassed alone, failed beside the others:${tellFailure(failure)}`),
  ]
  const more = failures.length > MAX_FAILURES ? [`\nand ${failures.length - MAX_FAILURES} more`] : []
  const counts = [sum(({ passed }) => passed), failures.length, sum(({ skipped }) => skipped)]
  return [...told, ...more, '', `${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped`].join('\n')
}

interface GroupFailure extends Failure {
  readonly group: string
}

function listFailures({ name, failures }: Outcome): readonly GroupFailure[] {
  return failures.map((failure) => ({ ...failure, group: name }))
}

function tellFailure(failure: GroupFailure): string {
  return `\n${failure.group}: ${failure.name}\n${trimSaid(failure)}`
}

function trimSaid({ said }: Failure): string {
  const told = Object.entries(said ?? {}).filter(([name]) => name !== 'source')
  const lines = told.flatMap(([name, value]) =>
    `${name}: ${typeof value === 'string' ? value : inspect(value, { depth: 6, breakLength: 200 })}`
      .trimEnd()
      .split('\n'),
  )
  return lines
    .slice(0, MAX_LINES)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n')
}
