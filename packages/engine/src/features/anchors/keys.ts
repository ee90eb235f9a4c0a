import { z } from 'zod'
import type { FeatureConfig } from '#service'
import { File, HTTP, key } from '#settings'

/** A verifier key of type 4: a name, the first bytes of its hash, and 33 bytes in base64. The ledger checks that the parts match. */
const VKEY = /^[^+\s]+\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}$/

const LedgerKeys = z.strictObject({
  timestamps: key(z.array(z.url(HTTP)).max(4).default([]), 'Timestamp authorities (RFC 3161) for ledger checkpoints', [
    'http://timestamp.digicert.com',
  ]),
  timestampCa: key(
    File.optional(),
    'PEM file of CAs for timestamps; absent: verifiers of evidence choose them',
    '/etc/sallyport/timestamp-ca.pem',
  ),
  witnesses: z
    .array(
      z.strictObject({
        url: key(z.url(HTTP), 'Submission prefix of a witness (C2SP tlog-witness)', 'https://witness.example'),
        vkey: key(
          z.string().regex(VKEY, 'is not a witness verifier key: NAME+ID+KEY, with an Ed25519 key of type 4'),
          'Verifier key of the witness (C2SP vkey, Ed25519 type 4)',
          'witness.example/w1+ed5bcec4+BBWSuPo/cAnwa6xkIZ3d7BgK8BTfs8T5yUWyNSG2Hsec',
        ),
      }),
    )
    .max(4)
    .default([])
    .describe('Witnesses that cosign checkpoints of the ledger'),
})

export const keys = {
  ledger: LedgerKeys.prefault({}).describe('Time from outside for the ledger'),
}

export type AnchorConfig = FeatureConfig<typeof keys>
