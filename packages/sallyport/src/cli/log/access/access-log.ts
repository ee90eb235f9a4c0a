import { type ClientTrust, parseTrust } from '@sallyport/core'
import { cleanLines } from '../clean-lines.ts'
import { readFileLines } from '../lines.ts'
import { combinedFormat } from './combined.ts'
import { decisionFormat } from './decisions.ts'
import { JSON_FORMAT } from './json.ts'
import type { AccessFormat, LoggedLine, ReadLine } from './reading.ts'
import { sortLines } from './sort-lines.ts'
import { W3C_FORMAT } from './w3c.ts'

export const ACCESS_FORMATS: readonly AccessFormat[] = [decisionFormat, JSON_FORMAT, W3C_FORMAT, combinedFormat]

/** Answers a log in any other format. */
export const READABLE =
  'replay reads the combined form, W3C with its line #Fields:, the decision log with log.addresses: full, and the JSON of Caddy, ' +
  'nginx, CloudFront, and Traefik with its User-Agent kept; --fields names the members of other JSON, and --format combined takes ' +
  'the second text behind the bytes for the user agent.'

/** The first lines of a log show what it keeps of a request. */
const FIRST_LINES = 1_000

/** Replaces a line that is too long; no format reads it as a request. */
const TOO_LONG = '…'

/** Reads the lines of an access log in the order of their times, each in the first matching format. Skips comments and empty lines. */
export function readAccessLog(
  file: string,
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
  onCut?: () => void,
  trust?: ClientTrust,
): AsyncIterable<LoggedLine> {
  return sortLines(readLogLines(file, formats, onCut, trust))
}

async function* readLogLines(
  file: string,
  formats: readonly AccessFormat[],
  onCut: (() => void) | undefined,
  trust: ClientTrust | undefined,
): AsyncIterable<LoggedLine> {
  const first: string[] = []
  let read: ReturnType<typeof createLineReader> | undefined
  for await (const line of cleanLines(readFileLines(file, 'latin1', onCut))) {
    if (read === undefined) {
      first.push(line ?? TOO_LONG)
      if (first.length < FIRST_LINES) continue
      read = createLineReader(formats, first, trust)
      yield* first.flatMap(read)
    } else yield* read(line ?? TOO_LONG)
  }
  if (read === undefined) yield* first.flatMap(createLineReader(formats, first, trust))
}

/** Creates a reader of lines whose letters are bytes; a comment yields nothing. */
export function createLineReader(
  formats: readonly AccessFormat[],
  first: readonly string[],
  trust = parseTrust([]),
): (line: string) => readonly LoggedLine[] {
  const readers = formats.map(({ name, open }): readonly [string, ReadLine] => [
    name,
    open(first, formats.length === 1, trust),
  ])
  return (line) => {
    for (const [format, read] of readers) {
      const reading = read(line)
      if (reading === 'comment') return []
      if (reading !== undefined) return [{ reading, format }]
    }
    return [{ reading: { lacks: 'request' } }]
  }
}
