import { hash, randomBytes } from 'node:crypto'
import { isNamed } from '@sallyport/core'
import { type ParsedKey, parseKey } from '#accounts'

/** Characters of the scheme, a key and some blanks between them; anything longer is refused unread. */
const MAX_CREDENTIALS = 128

const MAX_KEYS = 10_000

interface PresentedKey extends ParsedKey {
  /** The hash of the key with a secret of this process, by which the key is kept. */
  readonly fingerprint: string
  /** Whether the key is kept, because it was valid before. */
  readonly isKept: boolean
}

/**
 * Creates a reader of the keys of requests that remembers the last `MAX_KEYS` valid keys by a hash with a secret that is never written: it
 * keeps no text of a key, and no caller can choose what is compared. The store decides for each request whether a key is valid.
 */
export function createKeyReader() {
  const secret = randomBytes(32).toString('latin1')
  const valid = new Map<string, PresentedKey>()
  // Each deletion reads the same iterator, because a new iterator would first pass the places of all deleted keys.
  const oldestFirst = valid.keys()
  return {
    /** Reads the key of `Bearer` credentials (RFC 6750; the scheme in any case); returns `undefined` for what cannot be a key. */
    read(fields: readonly string[]): PresentedKey | undefined {
      const token = readToken(fields)
      if (token === undefined) return undefined
      const fingerprint = hash('sha256', secret + token)
      const known = valid.get(fingerprint)
      if (known !== undefined) return known
      const key = parseKey(token)
      return key === undefined ? undefined : { ...key, fingerprint, isKept: false }
    },
    /** Keeps a key that the store knows and that is valid: read again it costs one hash, not two and a checksum. */
    keep(key: PresentedKey): void {
      if (key.isKept) return
      valid.set(key.fingerprint, { ...key, isKept: true })
      if (valid.size <= MAX_KEYS) return
      const { value: oldest } = oldestFirst.next()
      if (oldest !== undefined) valid.delete(oldest)
    },
    drop: ({ fingerprint }: PresentedKey) => void valid.delete(fingerprint),
  }
}

function readToken(fields: readonly string[]): string | undefined {
  const credentials = readCredentials(fields)
  if (credentials === undefined || credentials.length > MAX_CREDENTIALS) return undefined
  return /^bearer +(\S+) *$/i.exec(credentials)?.[1]
}

/** Reads the value of the one `Authorization` field. Node keeps the first of several silently, so the raw fields are counted. */
function readCredentials(fields: readonly string[]): string | undefined {
  let value: string | undefined
  for (let index = 0; index < fields.length; index += 2) {
    if (!isNamed(fields[index] as string, 'authorization')) continue
    if (value !== undefined) return undefined
    value = fields[index + 1] ?? ''
  }
  return value
}
