import { invalidField, SallyportError } from '@sallyport/core'
import { EVIDENCE_TYPE, type EvidenceQuery as Query } from '@sallyport/ledger'
import type { z } from 'zod'
import { CLIENT_LIMITS } from '../client-limits.ts'
import { defineRoute, type RouteContext } from '../route.ts'
import {
  Evidence,
  EvidenceQuery,
  LedgerKeys,
  ProvenanceCheckRequest,
  ProvenanceCheckResponse,
} from '../schemas/provenance.ts'
import { readAddress } from './address.ts'

export const provenanceCheck = defineRoute('POST', '/v1/provenance/check', {
  example: {
    path: '/v1/provenance/check',
    body: { ip: '5.9.10.20', claimed_jurisdiction: 'DE', request_context: { order: 7 } },
  },
  access: { kind: 'key', metered: true },
  operationId: 'provenanceCheck',
  tag: 'Provenance',
  summary: 'Attest that a connection fits a claimed jurisdiction, and record the attestation.',
  description:
    'The response has the id once the record is durable. The record holds salted hashes of the address and of ' +
    '`request_context` (8 KiB at most), which are stored separately.',
  errors: [400, 401, 429, 500],
  body: ProvenanceCheckRequest,
  response: ProvenanceCheckResponse,
  answer: 'The verdict, the result of the jurisdiction policy, and the id of the record.',
  async handle({ body }, { services, ...context }) {
    const { attestationId, verdict, action } = await services.provenance.attest({
      account: readAccount(context),
      address: readAddress(body.ip),
      claim: body.claimed_jurisdiction,
      context: body.request_context,
    })
    return {
      network_origin: verdict.classification,
      anonymized: verdict.anonymized,
      method: verdict.method,
      confidence: verdict.confidence,
      policy_action: action,
      attestation_id: attestationId,
    }
  },
})

export const provenanceExport = defineRoute('GET', '/v1/provenance/export', {
  example: { path: '/v1/provenance/export?from=2026-01-01T00:00:00Z&to=2026-12-31T23:59:59Z' },
  access: { kind: 'key', metered: true },
  operationId: 'provenanceExport',
  tag: 'Provenance',
  summary: 'Export signed evidence of attestations, which can be verified offline.',
  errors: [400, 401, 404, 429, 500],
  query: EvidenceQuery,
  response: Evidence,
  mediaType: EVIDENCE_TYPE,
  answer: 'The records with their proofs, the checkpoint, the keys, the policy and the data sets.',
  async handle({ query }, { services, ...context }) {
    const evidence = await services.provenance.evidence(readAccount(context), readQuery(query))
    // One answer for an id that is not there and for one of another account.
    if (evidence === undefined) throw new SallyportError('attestation_not_found')
    return evidence
  },
})

export const provenanceKeys = defineRoute('GET', '/v1/provenance/keys', {
  example: { path: '/v1/provenance/keys' },
  access: { kind: 'client', limit: CLIENT_LIMITS.ledgerKeys },
  operationId: 'provenanceKeys',
  tag: 'Provenance',
  summary: 'List the public keys that sign evidence, with those that are retired.',
  errors: [429, 500],
  cache: 'public, max-age=300',
  response: LedgerKeys,
  mediaType: 'application/jwk-set+json',
  answer: 'A JWKS.',
  handle: (_input, { services }) => services.provenance.keys(),
})

function readAccount({ allowance }: Pick<RouteContext, 'allowance'>): string {
  if (allowance === undefined) throw new TypeError('a keyed route has an allowance')
  return allowance.account.id
}

function readQuery({ attestation_id: id, from, to }: z.output<typeof EvidenceQuery>): Query {
  if (id !== undefined && from === undefined && to === undefined) {
    if (!/^[1-9]\d{0,17}$/.test(id)) throw invalidField('attestation_id', 'is not an id')
    return { attestationId: Number(id) }
  }
  if (id !== undefined || from === undefined || to === undefined) {
    throw invalidField('query', 'must have attestation_id alone, or from and to')
  }
  return { from: readMoment('from', from), to: readMoment('to', to) }
}

const RFC_3339 = /^\d{4}-\d\d-(\d\d)T([01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i

/** Reads a moment in UTC with milliseconds, as records have it. */
function readMoment(name: string, text: string): string {
  const refuse = (reason: string) => invalidField(name, reason)
  const [, day] = RFC_3339.exec(text) ?? []
  const time = day === undefined ? Number.NaN : Date.parse(text.toUpperCase())
  // Date makes a day that its month does not have one of the next month.
  const wall = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  if (Number.isNaN(time) || wall.getUTCDate() !== Number(day)) throw refuse('is not a date-time of RFC 3339')
  const moment = new Date(time).toISOString()
  // A year of more or fewer digits, which an offset can make, is neither in records nor in the form of evidence.
  if (moment.length !== 'YYYY-MM-DDThh:mm:ss.sssZ'.length) throw refuse('is not within the years 0000 to 9999 in UTC')
  return moment
}
