import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { SallyportError } from '@sallyport/core'
import { type Signer, thumbprint } from '@sallyport/ledger'
import { makeFolder, makeSecret, readFault } from '#files'

/** Place of the private key: `env:NAME` or a file. */
export interface SigningKeyPlace {
  readonly source: string
  /** Whether a missing file is made: true for the default place alone. */
  readonly make: boolean
  /** A key was made, in this file. */
  readonly onMade?: ((file: string) => void) | undefined
}

/** Suffix of the next key's file, until the ledger has recorded the hand-over. */
const NEXT = '.next'

/**
 * Reads the private signing key (Ed25519, PEM, PKCS 8). Where an interrupted rotation has left a next key and that is `kid`, it is put in
 * place first. Rejects with `invalid_config` when the file may be read by others, is missing, or holds no such key.
 */
export async function loadSigningKey({ source, make, onMade }: SigningKeyPlace, kid?: string): Promise<Signer> {
  if (environmentName(source) !== undefined) return readSigningKey(source)
  if (make && kid === undefined && (await makeKeyFile(source))) onMade?.(source)
  const next = await readKeyFile(`${source}${NEXT}`).catch(() => undefined)
  if (next !== undefined && thumbprint(next.publicKey) === kid) {
    await putInPlace(source)
    return next
  }
  return readKeyFile(source)
}

/** Reads the private key of a file or a variable, and changes nothing. Rejects as `loadSigningKey` does. */
export async function readSigningKey(source: string): Promise<Signer> {
  const variable = environmentName(source)
  if (variable === undefined) return readKeyFile(source)
  return createSigner(parseKey(process.env[variable]?.replaceAll('\\n', '\n') ?? '', source))
}

/** The name of the environment variable that holds the key; `undefined` where a file does. */
export function environmentName(source: string): string | undefined {
  return source.startsWith('env:') ? source.slice('env:'.length) : undefined
}

/** Writes the next key, a new one or that in `from`, beside the one in use, in place of what an interrupted rotation has left. */
export async function prepareNextKey(file: string, from?: string) {
  const pem = from === undefined ? newKey() : await readFile(from)
  await rm(`${file}${NEXT}`, { force: true })
  await makeKeyFile(`${file}${NEXT}`, pem)
  return { next: await readKeyFile(`${file}${NEXT}`), place: () => putInPlace(file) }
}

/** The command and the services that follow it all do this: a missing file was put in place by another process. */
async function putInPlace(file: string): Promise<void> {
  await rename(`${file}${NEXT}`, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** Reads a key from a file that only its owner can read. */
export async function readKeyFile(file: string): Promise<Signer> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) throw unusable(file, 'does not exist')
  const fault = readFault(file)
  if (fault !== undefined) throw unusable(file, fault)
  const mode = found.mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw unusable(file, `is readable by other users (mode ${mode.toString(8).padStart(4, '0')}): chmod 600 it`)
  }
  return createSigner(parseKey(await readFile(file, 'utf8'), file))
}

async function makeKeyFile(file: string, pem: string | Uint8Array = newKey()): Promise<boolean> {
  if ((await stat(file).catch(() => undefined)) !== undefined) return false
  makeFolder(dirname(file))
  return makeSecret(file, pem)
}

function newKey(): string | Buffer {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
}

function parseKey(pem: string, source: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw unusable(source, 'is not a private key in PEM')
  }
  if (key.asymmetricKeyType !== 'ed25519') throw unusable(source, 'is not an Ed25519 key')
  return key
}

function createSigner(key: KeyObject): Signer {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const signBytes = promisify(sign) as (algorithm: null, bytes: Uint8Array, key: KeyObject) => Promise<Buffer>
  return { publicKey: Buffer.from(x, 'base64url'), sign: (bytes) => signBytes(null, bytes, key) }
}

function unusable(source: string, reason: string): SallyportError {
  return new SallyportError('invalid_config', `provenance.signingKey: ${source} ${reason}`)
}
