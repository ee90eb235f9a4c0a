import { Buffer } from './buffer.ts'
import { ask, HASH, VERIFY } from './question.ts'

/*
 * The verifier's imports from node:crypto, over WebCrypto: its code is bundled as it is. It asks
 * and waits, as it does in Node, because a worker may wait for another one that has the answers.
 */

type Bytes = Uint8Array<ArrayBuffer>

interface Jwk {
  readonly x: string
}

/** The raw key is all there is to an Ed25519 key. */
export interface KeyObject {
  readonly raw: Bytes
}

export function hash(algorithm: string, input: Uint8Array | string, encoding: 'hex' | 'buffer'): string | Buffer {
  if (algorithm !== 'sha256') throw new TypeError(`no hash ${algorithm}`)
  const digest = Buffer.from(ask(HASH, [typeof input === 'string' ? new TextEncoder().encode(input) : input]))
  return encoding === 'hex' ? digest.toString('hex') : digest
}

export function createPublicKey({ key }: { readonly key: Jwk }): KeyObject {
  return { raw: new Uint8Array(Buffer.from(key.x, 'base64url')) }
}

export function verify(_algorithm: null, bytes: Uint8Array, key: KeyObject, signature: Uint8Array): boolean {
  return ask(VERIFY, [key.raw, signature, bytes])[0] === 1
}
