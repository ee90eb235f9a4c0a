import { combinedFormat } from './combined.ts'
import { decisionFormat } from './decisions.ts'
import type { AccessFormat } from './format.ts'
import { JSON_FORMAT } from './json.ts'
import { W3C_FORMAT } from './w3c.ts'

export const ACCESS_FORMATS: readonly AccessFormat[] = [decisionFormat, JSON_FORMAT, W3C_FORMAT, combinedFormat]

/** Answers a log in any other format. */
export const READABLE =
  'replay reads the combined form, W3C with its line #Fields:, the decision log with log.addresses: full, and the JSON of Caddy, ' +
  'nginx, CloudFront, and Traefik with its User-Agent kept; --fields names the members of other JSON, and --format combined takes ' +
  'the second text behind the bytes for the user agent.'
