import { cleanLines } from '../clean-lines.ts'
import { linesOfFile } from '../lines.ts'
import { recordIn } from '../members.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { ACCESS_FORMATS } from './formats.ts'
import type { Reading } from './reading.ts'

/** Lines that are looked at before the first is read: what a log keeps of a request is seen by several of its lines. */
const FIRST_LINES = 1_000

/** A line that is too long is one without a request. */
const TOO_LONG = '…'

/** A line of a log, with the format that it is in. */
export interface LoggedLine {
  readonly reading: Reading
  /** Absent: it is in none that is known. */
  readonly format?: AccessFormat | undefined
}

/**
 * The lines of an access log, in one format or each in the first that fits it, as `linesOfFile` reads them. Comments and
 * empty lines are left out.
 */
export async function* readAccessLog(
  file: string,
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
  onCut?: () => void,
): AsyncIterable<LoggedLine> {
  const lines = cleanLines(linesOfFile(file, 'latin1', onCut))[Symbol.asyncIterator]()
  const first: string[] = []
  let ended = false
  while (first.length < FIRST_LINES && !ended) {
    const { value, done } = await lines.next()
    if (done === true) ended = true
    else first.push(value ?? TOO_LONG)
  }
  const read = lineReader(formats, first)
  for (const line of first) yield* read(line)
  if (!ended) for await (const line of { [Symbol.asyncIterator]: () => lines }) yield* read(line ?? TOO_LONG)
}

/** Reads the lines of a log, each letter a byte, that begins with these; what is no line of a request gives none. */
export function lineReader(
  formats: readonly AccessFormat[],
  first: readonly string[],
): (line: string) => readonly LoggedLine[] {
  const isSaid = formats.length === 1
  const readers = formats.map((format): readonly [AccessFormat, ReadLine] => [format, format.open(first, isSaid)])
  return (line) => {
    const record = recordIn(line)
    for (const [format, read] of readers) {
      const reading = read(line, record)
      if (reading === 'comment') return []
      if (reading !== undefined) return [{ reading, format }]
    }
    return [{ reading: { lacks: 'request' } }]
  }
}
