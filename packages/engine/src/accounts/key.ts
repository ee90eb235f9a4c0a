import { hash, timingSafeEqual } from 'node:crypto'
import { base62 } from './base62.ts'

/** The stored form of an API key, which never contains the key. */
export interface KeyRecord {
  /** The public part, 8 characters; names the key in lists and logs. */
  readonly id: string
  /** SHA-256 of the whole key text, hexadecimal. A key holds 256 random bits, so a slow hash would add nothing. */
  readonly hash: string
  /** The last four characters of the key, for people to recognise it by. */
  readonly last4: string
}

/** A key that a request presents, already hashed so that its text goes no further. */
export type ParsedKey = Pick<KeyRecord, 'id' | 'hash'>

const ID_LENGTH = 8
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

const ID_BYTES = 8
const SECRET_BYTES = 32
/** Hexadecimal digits of a hash that its checksum is made of. */
const CHECKSUM_DIGITS = 16

/** Random bytes that `createKey` takes. */
export const KEY_BYTES = ID_BYTES + SECRET_BYTES

const PREFIX = 'sp_'
const KEY_FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Makes a key `sp_<id>_<secret><checksum>` of `KEY_BYTES` random bytes: 8 characters of public id, 43 of secret (32
 * bytes in base62), 6 of checksum. Throws RangeError on any other number of bytes. `text` is shown once and kept nowhere.
 */
export function createKey(random: Uint8Array): { readonly text: string; readonly record: KeyRecord } {
  if (random.length !== KEY_BYTES) throw new RangeError(`A key is made of ${KEY_BYTES} random bytes.`)
  const hex = Buffer.from(random).toString('hex')
  const id = base62(hex.slice(0, 2 * ID_BYTES), ID_LENGTH)
  const unsealed = `${PREFIX}${id}_${base62(hex.slice(2 * ID_BYTES), SECRET_LENGTH)}`
  const text = unsealed + computeChecksum(unsealed)
  return { text, record: { id, hash: hash('sha256', text), last4: text.slice(-4) } }
}

/** Reads a key; `undefined` for a text that cannot be one. A text of another length or with a wrong checksum queries no store. */
export function parseKey(text: string): ParsedKey | undefined {
  if (!KEY_FORM.test(text)) return undefined
  const seal = text.length - CHECKSUM_LENGTH
  if (computeChecksum(text.slice(0, seal)) !== text.slice(seal)) return undefined
  return { id: text.slice(PREFIX.length, PREFIX.length + ID_LENGTH), hash: hash('sha256', text) }
}

/** Cuts keys in a text to their public ids, for messages that repeat what a caller sent. */
export function withoutKeys(text: string): string {
  return text.replace(/sp_([0-9A-Za-z]{8})_[0-9A-Za-z]{1,99}/g, 'sp_$1_…')
}

/** Reports whether a presented key is the stored one, compared in constant time. */
export function sameKey(key: ParsedKey, record: KeyRecord): boolean {
  const given = Buffer.from(key.hash, 'latin1')
  const stored = Buffer.from(record.hash, 'latin1')
  return given.length === stored.length && timingSafeEqual(given, stored)
}

/** Computes the last base62 digits of the start of the hash: a checksum detects typing errors and is no secret. */
function computeChecksum(text: string): string {
  return base62(hash('sha256', text).slice(0, CHECKSUM_DIGITS), CHECKSUM_LENGTH)
}
