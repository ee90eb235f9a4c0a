/** Values by their names, each name once. */
export type ValuesByName = ReadonlyMap<string, readonly string[]>

/** Pairs of names and values. */
type Pairs = Iterable<readonly [string, string]>

/**
 * Parameters of a query by their folded names, in every way in which common servers read them: `;` separates too (Perl, older
 * Python), `page[]` and ` page` are `page`, and dots and blanks are underscores (PHP).
 */
export function wideQuery(query: string): ValuesByName {
  const readings = query.includes(';') ? [query, query.replaceAll(';', '&')] : [query]
  return collectValues(readings.flatMap((reading) => [...new URLSearchParams(reading)]))
}

/** Cookies by their folded names, with their values as they were sent and without percent-encoding (PHP, Express). */
export function wideCookies(pairs: Pairs): ValuesByName {
  return collectValues(
    [...pairs].flatMap(([name, value]) => [[name, value] as const, [decoded(name), decoded(value)] as const]),
  )
}

/** The name under which servers may read a parameter or a cookie. Case does not count for ASP.NET. */
export function foldName(name: string): string {
  const bare = name.trimStart().toLowerCase()
  const bracket = bare.indexOf('[', 1)
  return (bracket < 0 ? bare : bare.slice(0, bracket)).replaceAll(/[ .]/g, '_')
}

/** The name under which CGI, WSGI and PHP read a header field: dashes and underscores are alike. */
export function foldField(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

function collectValues(pairs: Pairs): ValuesByName {
  const values = new Map<string, string[]>()
  for (const [name, value] of pairs) {
    const folded = foldName(name)
    const known = values.get(folded)
    if (known === undefined) values.set(folded, [value])
    else known.push(value)
  }
  return values
}

function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
