import { isRecord, PLAIN_ACTIONS } from '@sallyport/core'
import { ANCHORED_TYPE, EVIDENCE_TYPE } from '@sallyport/ledger'
import { z } from 'zod'
import { int64, Moment, NetworkClass, named } from './words.ts'

/** A JSON object as it was sent: a schema with members would drop those with names such as `__proto__`. */
const FreeForm = z
  .custom<Readonly<Record<string, unknown>>>(isRecord, 'must be an object')
  .meta({ override: { type: 'object' } })

export const ProvenanceCheckRequest = named('ProvenanceCheckRequest', {
  ip: z.string(),
  claimed_jurisdiction: z.string().meta({
    description:
      'A country code (ISO 3166-1, two letters), a region code (ISO 3166-2), or a group of the policy, such as EU.',
    examples: ['DE'],
  }),
  request_context: FreeForm.optional(),
})

export const ProvenanceCheckResponse = named('ProvenanceCheckResponse', {
  network_origin: NetworkClass,
  anonymized: z.boolean(),
  method: z.string(),
  confidence: z.number().min(0).max(1).meta({ format: 'float' }),
  policy_action: z.enum(PLAIN_ACTIONS).meta({ 'x-unspecified': true }),
  attestation_id: int64(),
})

const Base64 = z.string().meta({ description: 'Standard base64.' })
const Sha256 = z.string().meta({ description: 'SHA-256, lower-case hexadecimal.' })
const Hashes = z.array(Base64).meta({ description: 'Hashes of the proof (RFC 6962), from the leaf up.' })
const SignedNote = z.string().meta({ description: 'C2SP signed note of a checkpoint.' })

/** The query of the export, in text as it comes; the route reads it. */
export const EvidenceQuery = z.object({
  attestation_id: z
    .string()
    .optional()
    .meta({
      override: { type: 'integer', format: 'int64', minimum: 1 },
      description: 'One attestation. Either this, or `from` and `to`.',
    }),
  from: z
    .string()
    .optional()
    .meta({ override: { format: 'date-time' }, description: 'Issued at or after, RFC 3339.' }),
  to: z
    .string()
    .optional()
    .meta({ override: { format: 'date-time' }, description: 'Issued at or before, RFC 3339.' }),
})

/** Describes one public key (RFC 7517, RFC 8037) with its interval. */
const LedgerKey = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string().meta({ description: 'RFC 7638 thumbprint.' }),
  x: z.string().meta({ description: 'Public key, base64url.' }),
  nbf: z.int().meta({ description: 'Unix seconds from which it signs.' }),
  exp: z.int().optional().meta({ description: 'Unix seconds at which the next key took over.' }),
  revoked_at: z.int().optional().meta({ description: 'Unix seconds at which the key was revoked as compromised.' }),
  replaces: z.string().optional().meta({ description: '`kid` of the key before it.' }),
  succession: Base64.optional().meta({ description: 'Signature of the key before it, over the takeover.' }),
  vkey: z.string().meta({ description: 'The key for checkpoints, C2SP vkey.' }),
})

/** The keys that a ledger has signed with, oldest first. */
export const LedgerKeys = named('LedgerKeys', {
  origin: z.string().meta({ description: 'Name of the ledger.' }),
  keys: z.array(LedgerKey),
})

const Neighbor = z.object({ seq: int64(), leaf_hash: Base64, hashes: Hashes })

const Document = z.object({ sha256: Sha256, text: z.string().meta({ description: 'The exact text that was hashed.' }) })

/** Evidence about attestations, whole in itself; `sallyport evidence verify` reads it. */
export const Evidence = named('Evidence', {
  media_type: z.enum([EVIDENCE_TYPE, ANCHORED_TYPE]),
  created_at: Moment,
  origin: z.string(),
  log: z.string(),
  query: z.union([z.object({ attestation_id: int64() }), z.object({ from: Moment, to: Moment })]),
  records: z.array(
    z.object({
      attestation_id: int64(),
      seq: int64(),
      dsse: z.object({
        payloadType: z.string(),
        payload: Base64,
        signatures: z.array(z.object({ keyid: z.string(), sig: Base64 })),
      }),
      inclusion: z.object({ hashes: Hashes }),
      disclosure: z.object({
        state: z.enum(['disclosed', 'erased']),
        ip: z.string().optional(),
        salt: Base64.optional(),
        request_context: z.string().optional().meta({ description: 'Canonical JSON (RFC 8785).' }),
      }),
    }),
  ),
  neighbors: z.object({ previous: Neighbor.optional(), next: Neighbor.optional() }),
  checkpoint: SignedNote,
  consistency: z.object({ checkpoint: SignedNote, hashes: Hashes }).optional(),
  keys: LedgerKeys,
  anchors: z
    .array(
      z.object({
        checkpoint: SignedNote,
        hashes: Hashes,
        timestamps: z.array(
          z.object({
            authority: z.string(),
            response: Base64.meta({ description: 'TimeStampResp (RFC 3161), DER, of the bytes of `checkpoint`.' }),
          }),
        ),
        cosignatures: z
          .string()
          .optional()
          .meta({ description: 'Lines of witnesses (C2SP tlog-cosignature), which continue `checkpoint`.' }),
      }),
    )
    .optional()
    .meta({ description: 'Timestamps and cosignatures, in version 2.' }),
  unanchored: z.string().optional().meta({ description: 'The reason why records are not anchored yet.' }),
  policies: z.array(Document),
  datasets: z.array(Document),
  statements: z.object({
    proves: z.array(z.string()),
    does_not_prove: z.array(z.string()),
    how_to_verify: z.string(),
  }),
})
