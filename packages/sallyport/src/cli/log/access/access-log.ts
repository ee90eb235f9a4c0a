import { linesOfFile } from '../lines.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { ACCESS_FORMATS } from './formats.ts'
import { recordIn } from './members.ts'
import type { Reading } from './reading.ts'
import { unwrapped } from './wrapped.ts'

/** Lines that are looked at before the first is read: what a log keeps of a request is seen by several of its lines. */
const FIRST_LINES = 1_000

/** Mark that editors and Windows write before UTF-8, as bytes. */
const BOM = /^\u00ef\u00bb\u00bf/

/** A line of a log, with the format that it is in. */
export interface LoggedLine {
  readonly reading: Reading
  /** Absent: it is in none that is known. */
  readonly format?: AccessFormat | undefined
}

/**
 * The lines of an access log, in one format or each in the first that fits it; gzipped where its name ends in `.gz`.
 * Comments and empty lines are left out.
 */
export async function* readAccessLog(
  file: string,
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
): AsyncIterable<LoggedLine> {
  const lines = nonEmpty(linesOfFile(file, 'latin1'))[Symbol.asyncIterator]()
  const first: string[] = []
  let ended = false
  while (first.length < FIRST_LINES && !ended) {
    const { value, done } = await lines.next()
    if (done === true) ended = true
    else first.push(value)
  }
  const read = lineReader(formats, first)
  for (const line of first) yield* read(line)
  if (!ended) for await (const line of { [Symbol.asyncIterator]: () => lines }) yield* read(line)
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

/** A line that is too long is one without a request. */
async function* nonEmpty(lines: AsyncIterable<string | undefined>): AsyncIterable<string> {
  for await (const line of lines) {
    if (line === undefined) yield '…'
    else if (line.trim() !== '') yield unwrapped(line.replace(BOM, '').trimEnd())
  }
}
