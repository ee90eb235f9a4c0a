/**
 * The fields of a request of HTTP/2 (name, value, name, value …) as one of HTTP/1 has them: the Host first, no pseudo
 * fields, and all cookies in one field (RFC 9113 8.2.3, 8.3.1).
 */
export function http1Fields(fields: readonly string[]): string[] {
  const kept: string[] = []
  const cookies: string[] = []
  let host: string | undefined
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    const value = fields[at + 1] as string
    // Both name the same site, or the request was refused.
    if (name === ':authority' || name === 'host') host ??= value
    else if (name === 'cookie') cookies.push(value)
    else if (!name.startsWith(':')) kept.push(name, value)
  }
  if (host !== undefined) kept.unshift('Host', host)
  if (cookies.length > 0) kept.push('Cookie', cookies.join('; '))
  return kept
}
