import { type ClientTrust, formatAddress } from '@sallyport/core'
import { createLineReader } from '../../src/cli/log/access/access-log.ts'
import type { AccessFormat } from '../../src/cli/log/access/format.ts'
import { ACCESS_FORMATS } from '../../src/cli/log/access/formats.ts'

/** Returns how a log is read: its format, and for each line `address method target | user agent | moment | status` or what it lacks. */
export function listReadings(
  lines: readonly string[],
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
  trust?: ClientTrust,
): readonly (readonly [string, string])[] {
  const read = createLineReader(formats, lines, trust)
  return lines.flatMap((line) =>
    read(line).map(({ reading, format }): readonly [string, string] => {
      const name = format ?? 'none'
      if ('lacks' in reading) return [name, `lacks ${reading.lacks}`]
      const { address, method, target, userAgent, at, status = '' } = reading
      const moment = new Date(at).toISOString()
      return [name, `${formatAddress(address)} ${method} ${target} | ${userAgent} | ${moment} | ${status}`]
    }),
  )
}

/* A request that lines of text are about, in parts, and its reading. */

export const AT = '2026-11-21T09:00:00.000Z'
export const CLF = '[21/Nov/2026:10:00:00 +0100]'
export const REQUEST = '"GET /a HTTP/1.1"'
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'
export const COMBINED = `${CLF} ${REQUEST} 200 12 "-" "curl/8.5.0"`
export const named = (name: string) => ACCESS_FORMATS.filter((format) => format.name === name)
export const sent = (userAgent: string, status: number | string = 200, target = '/a') =>
  `203.0.113.9 GET ${target} | ${userAgent} | ${AT} | ${status}`

/** The user agents of lines that differ in what is behind the request, or what they lack. */
export function listAgents(...behind: readonly string[]): readonly string[] {
  return listReadings(behind.map((rest) => `203.0.113.9 - - ${CLF} ${REQUEST} ${rest}`)).map(([, read]) =>
    read.startsWith('lacks') ? read : (read.split(' | ')[1] ?? ''),
  )
}
