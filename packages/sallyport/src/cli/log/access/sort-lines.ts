import { counted } from '@sallyport/core'
import type { LoggedLine } from './reading.ts'

/** Holds back at least so many requests, until earlier ones may have come. */
export const HELD = 100_000

/** A line with its time, in milliseconds since the epoch; a line without a time has the time of the line before it. */
type Timed = readonly [line: LoggedLine, at: number]

/**
 * Sorts the lines of a log by their times, in bounded memory: logs are written as answers end, newest first, or by several machines into
 * one file. A line that is more than `HELD` lines out of order is late.
 */
export async function* sortLines(lines: AsyncIterable<LoggedLine>): AsyncIterable<LoggedLine> {
  let waiting: Timed[] = []
  let [at, last] = [0, 0]
  const markLate = ([line, at]: Timed): LoggedLine => {
    const isLate = at < last
    last = Math.max(last, at)
    return isLate ? { ...line, isLate } : line
  }
  for await (const line of lines) {
    if ('at' in line.reading) at = line.reading.at
    waiting.push([line, at])
    if (waiting.length < 2 * HELD) continue
    waiting.sort(compareTimes)
    yield* waiting.slice(0, HELD).map(markLate)
    waiting = waiting.slice(HELD)
  }
  yield* waiting.sort(compareTimes).map(markLate)
}

function compareTimes([, one]: Timed, [, other]: Timed): number {
  return one - other
}

export function lateNote(late: number): string {
  return `${counted(late, 'line')} out of order by more than ${HELD.toLocaleString('en-US')} lines: limits may count wrongly. Sort the log by time.`
}
