import { counted } from '@sallyport/core'
import type { LoggedLine } from './reading.ts'

/** Requests that are held back at least, until earlier ones may have come. */
export const HELD = 100_000

/** A line with its time, in milliseconds since the epoch; a line without one has that of the line before it. */
interface Timed {
  readonly line: LoggedLine
  readonly at: number
}

/**
 * Sorts the lines of a log by their times, in bounded memory: logs are written as answers end, newest first, and by several machines
 * into one file. A line that is more than `HELD` lines out of order is late.
 */
export async function* sortLines(lines: AsyncIterable<LoggedLine>): AsyncIterable<LoggedLine> {
  let waiting: Timed[] = []
  let [at, last] = [0, 0]
  const markLate = (one: Timed): LoggedLine => {
    const isLate = one.at < last
    last = Math.max(last, one.at)
    return isLate ? { ...one.line, isLate } : one.line
  }
  for await (const line of lines) {
    if ('at' in line.reading) at = line.reading.at
    waiting.push({ line, at })
    if (waiting.length < 2 * HELD) continue
    waiting.sort(byTime)
    yield* waiting.slice(0, HELD).map(markLate)
    waiting = waiting.slice(HELD)
  }
  yield* waiting.sort(byTime).map(markLate)
}

function byTime(one: Timed, other: Timed): number {
  return one.at - other.at
}

export function lateNote(late: number): string {
  return `${counted(late, 'line')} more than ${HELD.toLocaleString('en-US')} lines out of order: limits may count wrongly. Sort the log by time.`
}
