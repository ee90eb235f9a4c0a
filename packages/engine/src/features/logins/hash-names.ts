import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, makeSecret } from '#files'
import type { Settings } from '#settings'

const KEY_FILE = 'logins.key'
const KEY_BYTES = 32

/** Hashes a name: what is stored, counted and written down names nobody. It has 132 bits. */
export type HashName = (kind: 'identifier' | 'user' | 'domain' | 'stem', name: string) => string

/**
 * Creates the hash of an installation. Machines that share a store need `challenge.secret`, from which their key is derived; without
 * it the key is a file of dataDir. A new key forgets all users.
 */
export function createNameHash(config: Settings): HashName {
  let key: Buffer | undefined
  return (kind, name) => {
    key ??= readKey(config)
    return createHmac('sha256', key).update(`${kind} ${name}`).digest('base64url').slice(0, 22)
  }
}

function readKey({ challenge, dataDir, data }: Settings): Buffer {
  const { secret } = challenge
  if (secret !== undefined) return Buffer.from(hkdfSync('sha256', secret, 'sallyport logins', 'names', KEY_BYTES))
  if (data.readOnly) return randomBytes(KEY_BYTES)
  makeFolder(dataDir)
  makeSecret(join(dataDir, KEY_FILE), randomBytes(KEY_BYTES))
  return readFileSync(join(dataDir, KEY_FILE))
}
