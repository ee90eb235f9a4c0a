import { hash, timingSafeEqual } from 'node:crypto'
import { base62 } from './base62.ts'

/** What is stored of an API key: never the key. */
export interface KeyRecord {
  /** The public part, 8 characters; names the key in lists and logs. */
  readonly id: string
  /** SHA-256 of the whole key text, hexadecimal. A key holds 256 random bits, so a slow hash would add nothing. */
  readonly hash: string
  /** The last four characters of the key, for a person to know it by. */
  readonly last4: string
}

/** A new key: `text` is shown once and kept nowhere, `record` is what is stored. */
export interface NewKey {
  readonly text: string
  readonly record: KeyRecord
}

/** A key as it came in, already hashed so that its text goes no further. */
export interface ParsedKey {
  readonly id: string
  readonly hash: string
}

const ID_LENGTH = 8
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

const ID_BYTES = 8
const SECRET_BYTES = 32

/** Random bytes that `createKey` takes. */
export const KEY_BYTES = ID_BYTES + SECRET_BYTES

const KEY_FORM = new RegExp(`^sp_([0-9A-Za-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Makes a key `sp_<id>_<secret><checksum>` of `KEY_BYTES` random bytes: 8 characters of public id, 43 of secret (32
 * bytes in base62), 6 of checksum. Throws RangeError on any other number of bytes.
 */
export function createKey(random: Uint8Array): NewKey {
  if (random.length !== KEY_BYTES) throw new RangeError(`A key is made of ${KEY_BYTES} random bytes.`)
  const id = base62(random.subarray(0, ID_BYTES), ID_LENGTH)
  const unsealed = `sp_${id}_${base62(random.subarray(ID_BYTES), SECRET_LENGTH)}`
  const text = unsealed + checksum(unsealed)
  return { text, record: { id, hash: hash('sha256', text), last4: text.slice(-4) } }
}

/**
 * Reads a key; `undefined` for a text that cannot be one. The checksum is checked here, so that a mistyped or made-up
 * key is refused before any store is asked.
 */
export function parseKey(text: string): ParsedKey | undefined {
  const id = KEY_FORM.exec(text)?.[1]
  if (id === undefined) return undefined
  const seal = text.length - CHECKSUM_LENGTH
  if (checksum(text.slice(0, seal)) !== text.slice(seal)) return undefined
  return { id, hash: hash('sha256', text) }
}

/** Whether a key that came in is the stored one, compared in constant time. */
export function sameKey(key: ParsedKey, record: KeyRecord): boolean {
  const given = Buffer.from(key.hash, 'hex')
  const stored = Buffer.from(record.hash, 'hex')
  return given.length === stored.length && timingSafeEqual(given, stored)
}

/** Tells a typing error from a key; it keeps no one out. */
function checksum(text: string): string {
  return base62(hash('sha256', text, 'buffer').subarray(0, 8), CHECKSUM_LENGTH)
}
