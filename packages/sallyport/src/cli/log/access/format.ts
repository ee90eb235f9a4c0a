import { combinedFormat } from './combined.ts'
import { decisionFormat } from './decisions.ts'
import { JSON_FORMAT } from './json.ts'
import type { Reading } from './reading.ts'
import { W3C_FORMAT } from './w3c.ts'

/** Reads a line; `undefined` for one of another format. A `comment` belongs to the format and describes no request. */
export type ReadLine = (line: string) => Reading | 'comment' | undefined

/** A format of access logs. */
export interface AccessFormat {
  readonly name: string
  /** Opens a reader of one log, of which these are the first lines; `isNamed`: the operator says that the log has this format. */
  open(first: readonly string[], isNamed: boolean): ReadLine
}

/** All formats, in the order in which a line is tried. */
export const ACCESS_FORMATS: readonly AccessFormat[] = [decisionFormat, JSON_FORMAT, W3C_FORMAT, combinedFormat]

/** The answer to any other log. */
export const READABLE =
  'replay reads the combined form, W3C with its line #Fields:, the decision log with log.addresses: full, and the JSON of Caddy, ' +
  'nginx, CloudFront, and Traefik with its User-Agent kept; --fields names the members of other JSON, and --format combined takes ' +
  'the second text behind the bytes for the user agent.'
