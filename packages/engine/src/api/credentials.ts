import { type ParsedKey, parseKey } from '#accounts'

const AUTHORIZATION = 'authorization'

/** Characters of the scheme, a key and some blanks between them; anything longer is refused unread. */
const MAX_CREDENTIALS = 128

/** The key of `Bearer` credentials (RFC 6750; the scheme in any case). */
export function keyOf(fields: readonly string[]): ParsedKey | undefined {
  const credentials = credentialsOf(fields)
  if (credentials === undefined || credentials.length > MAX_CREDENTIALS) return undefined
  const token = /^bearer +(\S+) *$/i.exec(credentials)?.[1]
  return token === undefined ? undefined : parseKey(token)
}

/**
 * The value of the one `Authorization` field. `undefined` when there is none or more than one: Node keeps the first of
 * several silently, so the raw fields are counted.
 */
function credentialsOf(fields: readonly string[]): string | undefined {
  let value: string | undefined
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]
    // The length is compared first: a browser sends twenty other fields.
    if (name?.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue
    if (value !== undefined) return undefined
    value = fields[index + 1] ?? ''
  }
  return value
}
