import { type Checkpoint, isSignature, noteKeyHash } from './note.ts'
import { ShapeError } from './shape.ts'

/** A witness (C2SP tlog-witness) is known by the name and the Ed25519 key of its cosignatures. */
export interface Witness {
  readonly name: string
  /** Is the key ID of its signature lines, in hexadecimal. */
  readonly keyHash: string
  /** 32 bytes. */
  readonly publicKey: Uint8Array
}

/** This byte is the type of keys of timestamped Ed25519 cosignatures (C2SP signed-note). */
const COSIGNATURE = 4

/** Reads a verifier key (C2SP vkey) of a witness. Throws ShapeError for any other text. */
export function parseWitness(vkey: string): Witness {
  const [, name = '', keyHash = '', text = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(vkey) ?? []
  const key = Buffer.from(text, 'base64')
  const publicKey = key.subarray(1)
  const isKey = key[0] === COSIGNATURE && publicKey.length === 32 && key.toString('base64') === text
  if (!isKey || noteKeyHash(name, publicKey, COSIGNATURE) !== keyHash) {
    throw new ShapeError(`"${vkey}" is not the verifier key of a witness, NAME+ID+KEY with an Ed25519 key of type 4`)
  }
  return { name, keyHash, publicKey }
}

/** `Cosignature` says what one cosignature of a checkpoint is worth. */
export interface Cosignature {
  readonly name: string
  /** When the witness had seen no larger tree of the log, ISO 8601 in UTC. */
  readonly time: string
  /** `unknown`: none of the given witnesses has this name and key. */
  readonly state: 'good' | 'bad' | 'unknown'
  /** Is its line in a note. */
  readonly line: string
}

/** Checks the cosignatures of a checkpoint (C2SP tlog-cosignature, version 1); signatures that can be none are left out. */
export function readCosignatures(checkpoint: Checkpoint, witnesses: readonly Witness[]): readonly Cosignature[] {
  return checkpoint.signatures.flatMap(({ name, keyHash, signature }): readonly Cosignature[] => {
    const seconds = signature.length === SIGNATURE_BYTES ? Buffer.from(signature).readBigUInt64BE() : MAX_SECONDS
    if (seconds >= MAX_SECONDS) return []
    const line = `\u2014 ${name} ${Buffer.concat([Buffer.from(keyHash, 'hex'), signature]).toString('base64')}\n`
    const found = { name, time: new Date(Number(seconds) * 1_000).toISOString(), line }
    const witness = witnesses.find((known) => known.name === name && known.keyHash === keyHash)
    if (witness === undefined) return [{ ...found, state: 'unknown' }]
    const signed = Buffer.from(`cosignature/v1\ntime ${seconds}\n${checkpoint.body}`)
    return [{ ...found, state: isSignature(witness.publicKey, signed, signature.subarray(8)) ? 'good' : 'bad' }]
  })
}

/** A cosignature has eight bytes of time, and a signature of Ed25519. */
const SIGNATURE_BYTES = 72
/** The year 10000, whose seconds have no form in ISO 8601. */
const MAX_SECONDS = 253_402_300_800n
