import { attempt } from '../../attempt.ts'

export type ValuesByName = ReadonlyMap<string, readonly string[]>

type Pairs = Iterable<readonly [string, string]>

/**
 * Returns parameters of a query by their folded names, in every way that common servers read them: `;` separates too (Perl, older Python),
 * `page[]`, ` page` and `page%00x` are `page`, and dots and blanks are underscores (PHP).
 */
export function wideQuery(query: string): ValuesByName {
  const readings = query.includes(';') ? [query, query.replaceAll(';', '&')] : [query]
  const pairs = readings.flatMap((reading) => [...new URLSearchParams(reading)])
  return collectValues(pairs, foldName)
}

/** Returns cookies by their folded names, with their values as sent and without percent-encoding (PHP, Express). */
export function wideCookies(pairs: Pairs): ValuesByName {
  const all = [...pairs].flatMap(([name, value]) => [
    [name, value] as const,
    [tryDecode(name), tryDecode(value)] as const,
  ])
  return collectValues(all, foldName)
}

/** Returns the name under which servers may read a parameter or a cookie. ASP.NET ignores case. */
export function foldName(name: string): string {
  const [bare = ''] = name.trimStart().toLowerCase().split('\0', 1)
  const bracket = bare.indexOf('[', 1)
  return (bracket < 0 ? bare : bare.slice(0, bracket)).replaceAll(/[ .]/g, '_')
}

/** Returns the name under which CGI, WSGI and PHP read a header field: dashes, underscores and dots are alike. */
export function foldField(name: string): string {
  return name.toLowerCase().replaceAll(/[_.]/g, '-')
}

export function collectValues(pairs: Pairs, writeName = (name: string) => name): ValuesByName {
  const values = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const written = writeName(name)
    const known = values.get(written)
    if (known === undefined) values.set(written, [value])
    else known.push(value)
  }
  return values
}

/** Decodes escapes; returns a text with an escape that is not UTF-8 as it is. */
export function tryDecode(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text
}
