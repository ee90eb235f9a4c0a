import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { sha256 } from './hash.ts'

/** Holds one signature line of a signed note (C2SP signed-note): the signer's name, the first four bytes of the key id, the signature. */
export interface NoteSignature {
  readonly name: string
  readonly keyHash: string
  readonly signature: Uint8Array
}

/** Holds a checkpoint (C2SP tlog-checkpoint) that was read from its text. */
export interface Checkpoint {
  /** Names the log. */
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  /** Holds the signed text, with its last newline. */
  readonly body: string
  readonly signatures: readonly NoteSignature[]
}

/** Reads a checkpoint; returns `undefined` for any text that is not exactly one. Extension lines are not accepted. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const split = text.indexOf('\n\n')
  if (split === -1 || !text.endsWith('\n')) return undefined
  const body = text.slice(0, split + 1)
  const [origin = '', sizeText = '', rootText = '', ...extra] = body.slice(0, -1).split('\n')
  const size = Number(sizeText)
  const root = base64Bytes(rootText, 32)
  if (origin === '' || extra.length > 0 || root === undefined) return undefined
  if (!/^(0|[1-9][0-9]{0,15})$/.test(sizeText) || !Number.isSafeInteger(size)) return undefined
  const signatures = text
    .slice(split + 2, -1)
    .split('\n')
    .map(parseSignature)
  if (!signatures.every((signature) => signature !== undefined)) return undefined
  return { origin, size, root, body, signatures }
}

/** The name of a key holds no plus and none of Unicode's spaces; `\s` is not quite these, and is another in each language. */
const SIGNATURE =
  /^\u2014 ([^+\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+) ([A-Za-z0-9+/=]+)$/

/** Signatures of other kinds may be longer or shorter than those of Ed25519: they are kept and never match. */
function parseSignature(line: string): NoteSignature | undefined {
  const [, name = '', text = ''] = SIGNATURE.exec(line) ?? []
  const bytes = base64Bytes(text)
  if (bytes === undefined || bytes.length < 5) return undefined
  return { name, keyHash: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) }
}

/** Decodes standard base64 with its padding, of exactly `length` bytes if given; returns `undefined` for any other text. */
export function base64Bytes(text: string, length?: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text || text === '') return undefined
  return length === undefined || bytes.length === length ? bytes : undefined
}

/** Returns the four bytes by which a note names an Ed25519 key, in hexadecimal; `type` is the byte of its kind of signatures. */
export function noteKeyHash(name: string, publicKey: Uint8Array, type: number = ED25519): string {
  return sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]))
    .subarray(0, 4)
    .toString('hex')
}

/** Returns the text form of a key for checkpoints (C2SP vkey). */
export function noteVerifierKey(name: string, publicKey: Uint8Array): string {
  const key = Buffer.concat([Buffer.from([ED25519]), publicKey]).toString('base64')
  return `${name}+${noteKeyHash(name, publicKey)}+${key}`
}

const ED25519 = 1

/** Reports whether a checkpoint has a valid Ed25519 signature of this key, by this name. */
export function isSignedBy(checkpoint: Checkpoint, name: string, publicKey: Uint8Array): boolean {
  const wanted = noteKeyHash(name, publicKey)
  return checkpoint.signatures.some(
    ({ name: signer, keyHash, signature }) =>
      signer === name && keyHash === wanted && isSignature(publicKey, Buffer.from(checkpoint.body), signature),
  )
}

/** Reports whether the bytes have this Ed25519 signature (RFC 8032). */
export function isSignature(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === 64 && verify(null, bytes, createKeyObject(publicKey), signature)
}

function createKeyObject(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString('base64url')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

/** Returns the bytes that a DSSE signature covers (secure-systems-lab/dsse: PAE). */
export function dssePreimage(type: string, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body])
}
