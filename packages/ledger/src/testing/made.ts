import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Randomness, Signer } from '../ports.ts'
import type { Document, Statement } from '../record.ts'
import { readDocument } from '../record.ts'

/** A signing key made of one repeated byte: the same in every run. */
export function madeSigner(byte: number): Signer {
  const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.alloc(32, byte)]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { publicKey: Buffer.from(x, 'base64url'), sign: async (bytes) => sign(null, bytes, key) }
}

/** Bytes that count up: no two salts are alike, and every run has the same. */
export function madeRandomness(): Randomness {
  let count = 0
  return (bytes) => {
    const made = Buffer.alloc(bytes)
    made.writeUInt32BE(++count)
    return made
  }
}

/** A policy of a few rules, as the default one is written. */
export const MADE_POLICY: Document = readDocument({
  id: 'made',
  groups: [{ id: 'EU', countries: ['DE', 'FR'] }],
  rules: [
    { id: 'reserved', match: { reserved: true }, action: 'flag' },
    { id: 'hidden', match: { anonymized: true, relation: ['mismatch', 'unknown'] }, action: 'block' },
    { id: 'unknown', match: { country: ['unknown'] }, action: 'flag' },
    { id: 'near', match: { claim: ['EU'], country: ['EU'], relation: ['mismatch'] }, action: 'flag' },
    { id: 'match', match: { relation: ['match'] }, action: 'allow' },
    { id: 'else', match: {}, action: 'block' },
  ],
})

export const MADE_DATASETS: Document = readDocument([{ id: 'made', date: '2026-11-01', sha256: 'ab'.repeat(32) }])

/** An attestation that fits the made policy. */
export const MADE_ATTESTATION: Statement = {
  claim: 'DE',
  finding: { networkOrigin: 'vpn', anonymized: true, method: 'range:vpn', confidence: 0.9, country: 'NL', asn: 64502 },
  policy: { id: 'made', sha256: MADE_POLICY.sha256, action: 'block', reason: 'hidden' },
  basis: { engine: '0.1.0', datasetsSha256: MADE_DATASETS.sha256, addressFrom: 'request' },
}
