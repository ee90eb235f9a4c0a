import { agentReader, hasAgentPlace } from './agent-place.ts'
import { type CommonLine, commonLine } from './common-line.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { frontReader } from './in-front.ts'
import { type Reading, readingOf, requestLine } from './reading.ts'

const CURES = {
  address: 'Log one address in front, that of the client: %a in Apache, $remote_addr in nginx.',
  userAgent:
    'The combined form has the referrer and the user agent behind the bytes: log in it, name the text (ua="…"), or give --format combined.',
} as const

/** Formats of lines of words and quotes, the longer ones first. */
export const TEXT_FORMATS: readonly AccessFormat[] = [
  {
    name: 'vhost_combined',
    of: 'Apache vhost_combined, and others with the host before the address',
    cures: CURES,
    open: (first, isSaid) => combinedReader(first, isSaid ? 'host' : undefined, true),
  },
  {
    name: 'combined',
    of: 'nginx, Apache, lighttpd and most others',
    cures: CURES,
    open: (first, isSaid) => combinedReader(first, isSaid ? 'client' : undefined, false),
  },
  {
    name: 'common',
    of: 'common log format',
    cures: { userAgent: 'The common log format has no place for it: log in combined format.' },
    open: () => (line) => (commonLine(line) === undefined ? undefined : { lacks: 'userAgent' }),
  },
]

/**
 * The ends of lines of Traefik's and HAProxy's, which log no user agent by default: `"-" "-" 17 "router@file" …`,
 * `"" "" 33317 568 "http-in" …`.
 */
const AGENTLESS = [
  /^ \d{3} \d+ "[^"]*" "-" \d+ (?:"[^"]*"|-) (?:"[^"]*"|-) \d+ms$/,
  /^ -?\d+ \d+ "" "" \d+ \d+ "/,
] as const

/** Reads the lines that begin with a host, or those that do not. */
function combinedReader(first: readonly string[], said: 'host' | 'client' | undefined, hasHost: boolean): ReadLine {
  const lines = first.flatMap((line) => commonLine(line) ?? [])
  const frontOf = frontReader(lines, said)
  const agentOf = agentReader(lines, { isSaid: said !== undefined })
  return (line) => {
    const common = commonLine(line)
    if (common === undefined || AGENTLESS.some((end) => end.test(common.rest))) return undefined
    const front = frontOf(common)
    if (front.hasHost !== hasHost) return undefined
    const userAgent = agentOf(common)
    return userAgent === undefined && !hasAgentPlace(common) ? undefined : commonReading(common, front.ip, userAgent)
  }
}

function commonReading(
  { time, quoted, status }: CommonLine,
  ip: string | undefined,
  userAgent: string | undefined,
): Reading {
  return readingOf({
    ip,
    ...(requestLine(quoted[0] ?? '') ?? { target: undefined }),
    userAgent,
    at: [time],
    status,
  })
}
