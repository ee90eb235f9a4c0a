import { hash, timingSafeEqual } from 'node:crypto'
import { base62, base62Digits } from './base62.ts'

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
const CHECKSUMS = 62 ** CHECKSUM_LENGTH
const AFTER_ID = 1 + SECRET_LENGTH + CHECKSUM_LENGTH

const ID_BYTES = 8
const SECRET_BYTES = 32

/** Random bytes that `createKey` takes. */
export const KEY_BYTES = ID_BYTES + SECRET_BYTES

const MOST_READ = 10_000

const PREFIX = 'sp_'
const KEY_FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${ID_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * Makes a key `sp_<id>_<secret><checksum>` of `KEY_BYTES` random bytes: 8 characters of public id, 43 of secret (32
 * bytes in base62), 6 of checksum. Throws RangeError on any other number of bytes.
 */
export function createKey(random: Uint8Array): NewKey {
  if (random.length !== KEY_BYTES) throw new RangeError(`A key is made of ${KEY_BYTES} random bytes.`)
  const id = base62(random.subarray(0, ID_BYTES), ID_LENGTH)
  const unsealed = `${PREFIX}${id}_${base62(random.subarray(ID_BYTES), SECRET_LENGTH)}`
  const text = unsealed + checksum(unsealed)
  return { text, record: { id, hash: hash('sha256', text), last4: text.slice(-4) } }
}

/**
 * Reads a key; `undefined` for a text that cannot be one. The checksum is checked here, so that a mistyped or made-up
 * key is refused before any store is asked.
 */
export function parseKey(text: string): ParsedKey | undefined {
  if (!KEY_FORM.test(text)) return undefined
  const seal = text.length - CHECKSUM_LENGTH
  if (checksum(text.slice(0, seal)) !== text.slice(seal)) return undefined
  return { id: idOf(text), hash: hash('sha256', text) }
}

/** Keys that are known again. */
export interface KnownKeys {
  /** `parse`, which is not asked about a text that is known. */
  read(text: string): ParsedKey | undefined
  /** `sameKey`, which is not asked again about the two that it found to be the same. */
  same(key: ParsedKey, record: KeyRecord): boolean
}

interface KnownKey {
  /** Character by character: to take one out of a text costs three times as much as out of this. */
  readonly text: Uint16Array
  readonly key: ParsedKey
  matched?: KeyRecord
}

/**
 * Knows keys again: through OpenSSL their hashes take longer than all the rest of a check. It holds the texts of the last
 * keys in memory, never more than `MOST_READ`, by their public ids. A text, which may have more before the key, is
 * compared with a known one in constant time; no look-up goes by the secret. So a key that comes again is compared
 * once, and a record that is another object, changed or not, is compared by its hash.
 */
export function createKnownKeys(parse: typeof parseKey = parseKey): KnownKeys {
  let known = new Map<string, KnownKey>()
  return {
    read(text) {
      const before = known.get(idAtEnd(text))
      if (before !== undefined && sameText(before.text, text)) return before.key
      const key = parse(text)
      if (key === undefined) return undefined
      if (known.size >= MOST_READ) known = new Map()
      known.set(key.id, { text: Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at)), key })
      return key
    },
    same(key, record) {
      const before = known.get(key.id)
      if (before?.key !== key) return sameKey(key, record)
      if (before.matched === record) return true
      const same = sameKey(key, record)
      if (same) before.matched = record
      return same
    },
  }
}

/** Whether a key that came in is the stored one, compared in constant time. */
export function sameKey(key: ParsedKey, record: KeyRecord): boolean {
  const given = Buffer.from(key.hash, 'latin1')
  const stored = Buffer.from(record.hash, 'latin1')
  return given.length === stored.length && timingSafeEqual(given, stored)
}

/** Looks at every character, whatever the ones before it were. */
function sameText(known: Uint16Array, given: string): boolean {
  if (known.length !== given.length) return false
  let difference = 0
  for (let at = 0; at < known.length; at++) difference |= (known[at] as number) ^ given.charCodeAt(at)
  return difference === 0
}

function idOf(text: string): string {
  return text.slice(PREFIX.length, PREFIX.length + ID_LENGTH)
}

/** The id of a key at the end of a text. */
function idAtEnd(text: string): string {
  return text.slice(-(ID_LENGTH + AFTER_ID), -AFTER_ID)
}

/**
 * Tells a typing error from a key; it keeps no one out. The last digits of the first eight bytes of a hash, in base62: the
 * remainder is enough for them, and no step of it leaves 53 bits, where `base62` needs a number of any size.
 */
function checksum(text: string): string {
  // One character a byte.
  const digest = hash('sha256', text, 'binary')
  let rest = 0
  for (let at = 0; at < 8; at += 2) {
    rest = (rest * 0x1_0000 + digest.charCodeAt(at) * 0x100 + digest.charCodeAt(at + 1)) % CHECKSUMS
  }
  return base62Digits(rest, CHECKSUM_LENGTH)
}
