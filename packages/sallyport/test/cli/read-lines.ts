import { formatAddress } from '@sallyport/core'
import { lineReader } from '../../src/cli/log/access/access-log.ts'
import type { AccessFormat } from '../../src/cli/log/access/format.ts'
import { ACCESS_FORMATS } from '../../src/cli/log/access/formats.ts'

/** Tells what a log of these lines is read as, line by line: its format, and `address method target | user agent | moment | status` or what it lacks. */
export function readingsOf(
  lines: readonly string[],
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
): readonly (readonly [string, string])[] {
  const read = lineReader(formats, lines)
  return lines.flatMap((line) =>
    read(line).map(({ reading, format }): readonly [string, string] => {
      const name = format?.name ?? 'none'
      if ('lacks' in reading) return [name, `lacks ${reading.lacks}`]
      const { address, method, target, userAgent, at, status = '' } = reading
      const moment = new Date(at).toISOString()
      return [name, `${formatAddress(address)} ${method} ${target} | ${userAgent} | ${moment} | ${status}`]
    }),
  )
}
