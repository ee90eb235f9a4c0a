import { ATTESTATION_TYPE, type Evidence, type EvidenceRecord, parseEvidence } from './evidence-form.ts'
import { commitment, genesisLink, leafHash, sha256Hex } from './hash.ts'
import { followSuccession, type LedgerKey, parseJwks } from './keys.ts'
import { dssePreimage, isSignature, isSignedBy } from './note.ts'
import { replayPolicy } from './replay.ts'
import { ShapeError } from './shape.ts'
import { isConsistent, rootOfPath, sameBytes } from './tree.ts'

/**
 * What is checked, each apart from the others: a file may be whole and still be signed by nobody one trusts.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { AXES, verifyEvidence } from '@sallyport/ledger/verify'
 *
 * const { axes } = verifyEvidence(JSON.parse(readFileSync('evidence.json', 'utf8')))
 * for (const axis of AXES) console.log(axis, axes[axis].outcome, axes[axis].detail)
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/packages/ledger#evidence
 */
export const AXES = [
  'format',
  'authenticity',
  'integrity',
  'inclusion',
  'consistency',
  'completeness',
  'disclosure',
  'policy_replay',
] as const
/** One of `AXES`. */
export type Axis = (typeof AXES)[number]

/** What came of one axis. `not_provided`: the file, or the caller, gave nothing to check this by; it is neither good nor bad. */
export interface AxisResult {
  readonly outcome: 'pass' | 'fail' | 'not_provided'
  /** A sentence for people. */
  readonly detail: string
}

/** What `verifyEvidence` found, axis by axis. */
export interface EvidenceReport {
  /** True when nothing failed. */
  readonly ok: boolean
  readonly axes: Readonly<Record<Axis, AxisResult>>
}

/**
 * Checks a piece of evidence, offline. `evidence` is the parsed JSON; `keys` is the JWKS that the caller trusts, had
 * from the service or kept from earlier, and never from the file. Never throws for bad evidence; throws ShapeError for
 * `keys` that are no JWKS (RFC 7517).
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { verifyEvidence } from '@sallyport/ledger/verify'
 *
 * const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))
 * const { ok, axes } = verifyEvidence(read('evidence.json'), read('keys.json'))
 * console.log(ok, axes.authenticity.outcome, axes.integrity.detail)
 * ```
 * @see https://github.com/sallyport/sallyport/tree/main/packages/ledger#evidence
 * @see https://www.rfc-editor.org/rfc/rfc6962#section-2.1
 */
export function verifyEvidence(evidence: unknown, keys?: unknown): EvidenceReport {
  const trusted = keys === undefined ? undefined : parseJwks(keys)
  let parsed: Evidence
  try {
    parsed = parseEvidence(evidence)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return reportOf({ format: failed(error.message) })
  }
  return reportOf({
    format: passed(`${parsed.records.length} record(s) in the form of this version.`),
    authenticity: authenticity(parsed, trusted),
    integrity: integrity(parsed),
    inclusion: inclusion(parsed),
    consistency: consistency(parsed),
    completeness: completeness(parsed),
    disclosure: disclosure(parsed),
    policy_replay: policyReplay(parsed),
  })
}

function reportOf(found: Readonly<Partial<Record<Axis, AxisResult>>>): EvidenceReport {
  const axes = Object.fromEntries(
    AXES.map((axis) => [axis, found[axis] ?? notProvided('Not looked at: the form is not known.')]),
  ) as Readonly<Record<Axis, AxisResult>>
  return { ok: AXES.every((axis) => axes[axis].outcome !== 'fail'), axes }
}

/** Who signed. Keys that lie in the file itself can show a bad signature, and never a good one. */
function authenticity(evidence: Evidence, trusted: readonly LedgerKey[] | undefined): AxisResult {
  const own = trusted === undefined
  const keys = own ? evidence.keys : followSuccession(trusted, evidence.keys, `${evidence.origin}/keys`)
  const newest = evidence.records.at(-1) as EvidenceRecord
  for (const entry of evidence.records) {
    const preimage = dssePreimage(ATTESTATION_TYPE, entry.bytes)
    const good = keys.filter((key) =>
      entry.signatures.some(({ kid, signature }) => kid === key.kid && isSignature(key.publicKey, preimage, signature)),
    )
    const reason = refusalOf(good, entry)
    if (reason !== undefined) return failed(`Attestation ${entry.attestationId}: ${reason}`)
  }
  const checkpoints = [evidence.checkpoint, ...(evidence.earlier === undefined ? [] : [evidence.earlier.checkpoint])]
  for (const checkpoint of checkpoints) {
    const good = keys.filter((key) => isSignedBy(checkpoint, evidence.origin, key.publicKey))
    // An earlier checkpoint may be signed by a key that has ended since; the newest must be as fresh as the records.
    const reason = refusalOf(good, checkpoint === evidence.checkpoint ? newest : undefined)
    if (reason !== undefined) return failed(`The checkpoint at size ${checkpoint.size}: ${reason}`)
  }
  return own
    ? notProvided('The signatures fit the keys inside the file, which proves nothing: give the keys of the service.')
    : passed('Every record and checkpoint is signed by a key that you trust.')
}

/** Why signatures by these keys do not count; `undefined` when one does. */
function refusalOf(signers: readonly LedgerKey[], signed: EvidenceRecord | undefined): string | undefined {
  if (signers.length === 0) return 'no good signature by a trusted key.'
  if (signers.every(({ revokedAt }) => revokedAt !== undefined)) return 'signed only by a revoked key.'
  const issued = signed === undefined ? 0 : Date.parse(signed.record.issuedAt)
  const alive = signers.some(
    ({ revokedAt, expires }) => revokedAt === undefined && (expires === undefined || issued <= expires * 1000),
  )
  return alive ? undefined : 'signed only by a key that had been retired when the record was made.'
}

/** Whether all that lies in the file belongs together. */
function integrity(evidence: Evidence): AxisResult {
  const { records, previous, next, log, origin } = evidence
  if (!log.startsWith(`${origin}/`)) return failed('The log is not one of this ledger.')
  for (const [index, { record, attestationId, seq }] of records.entries()) {
    const name = `Attestation ${attestationId}`
    if (record.attestationId !== attestationId || record.seq !== seq || record.log !== log) {
      return failed(`${name}: the record names another id, place or log than the file.`)
    }
    const before = records[index - 1]
    if (before !== undefined && seq === before.seq + 1 && record.prev !== leafHash(before.bytes).toString('hex')) {
      return failed(`${name}: does not link to the record before it.`)
    }
    if (before !== undefined && record.issuedAt < before.record.issuedAt) return failed(`${name}: time runs backwards.`)
    for (const [what, sha256, documents] of [
      ['policy', record.policySha256, evidence.policies],
      ['dataset list', record.datasetsSha256, evidence.datasets],
    ] as const) {
      const document = documents.find((row) => row.sha256 === sha256)
      if (document === undefined || sha256Hex(document.text) !== sha256) {
        return failed(`${name}: the ${what} of the record is not in the file.`)
      }
    }
  }
  const first = records[0] as EvidenceRecord
  const last = records.at(-1) as EvidenceRecord
  const link = first.seq === 0 ? genesisLink(log) : Buffer.from(previous?.leaf ?? []).toString('hex')
  if (first.record.prev !== link || (previous !== undefined && previous.seq !== first.seq - 1)) {
    return failed(`Attestation ${first.attestationId}: does not link to its predecessor.`)
  }
  if (next !== undefined && next.seq !== last.seq + 1) return failed('The successor is not the next record.')
  return passed('Records, links, policy and dataset list fit their hashes.')
}

function inclusion({ records, previous, next, checkpoint, log }: Evidence): AxisResult {
  if (checkpoint.origin !== log) return failed('The checkpoint is that of another log.')
  const leaves = [
    ...records.map(({ seq, bytes, path }) => ({ seq, leaf: leafHash(bytes), path })),
    ...(previous === undefined ? [] : [previous]),
    ...(next === undefined ? [] : [next]),
  ]
  for (const { seq, leaf, path } of leaves) {
    const root = rootOfPath(leaf, seq, checkpoint.size, path)
    if (root === undefined || !sameBytes(root, checkpoint.root)) {
      return failed(`Record ${seq} of the log is not under the checkpoint.`)
    }
  }
  return passed(`Under the checkpoint at size ${checkpoint.size}.`)
}

function consistency({ earlier, checkpoint }: Evidence): AxisResult {
  if (earlier === undefined) return notProvided('There is no earlier checkpoint in the file.')
  const { size, root, origin } = earlier.checkpoint
  if (origin !== checkpoint.origin || !isConsistent(size, root, checkpoint.size, checkpoint.root, earlier.proof)) {
    return failed(`The log at size ${checkpoint.size} does not continue the log at size ${size}.`)
  }
  return passed(`The log at size ${checkpoint.size} continues the log at size ${size}.`)
}

/** Whether these are all the records that were asked for: of one record alone nobody can tell. */
function completeness({ query, records, checkpoint }: Evidence): AxisResult {
  const first = records[0] as EvidenceRecord
  const last = records.at(-1) as EvidenceRecord
  if (!records.every(({ seq }, index) => seq === first.seq + index))
    return failed('There are gaps between the records.')
  if ('attestationId' in query) {
    return records.some(({ attestationId }) => attestationId === query.attestationId)
      ? notProvided('One record was asked for; nothing is said of others.')
      : failed('The record that was asked for is not in the file.')
  }
  const { from, to } = query
  if (first.seq > 0 && first.record.issuedAt >= from) return failed('Earlier records of the range may be missing.')
  if (last.seq < checkpoint.size - 1 && last.record.issuedAt <= to) {
    return failed('Later records of the range may be missing.')
  }
  return passed(`All records of the log from ${from} to ${to}, as of the checkpoint.`)
}

function disclosure({ records }: Evidence): AxisResult {
  let disclosed = 0
  for (const { record, disclosure, attestationId } of records) {
    if (disclosure === undefined) continue
    disclosed++
    const { address, salt, context } = disclosure
    const good =
      commitment(salt, address) === record.subject &&
      (context === undefined || commitment(salt, context) === record.context)
    if (!good) return failed(`Attestation ${attestationId}: the address or context is not the one that was recorded.`)
  }
  if (disclosed === 0) return notProvided('The address was erased.')
  return passed(`The address is the recorded one in ${disclosed} of ${records.length} record(s); the rest is erased.`)
}

function policyReplay({ records, policies }: Evidence): AxisResult {
  for (const { record, attestationId } of records) {
    const document = policies.find(({ sha256 }) => sha256 === record.policySha256)
    if (document === undefined) return failed(`Attestation ${attestationId}: its policy is not in the file.`)
    let decided: ReturnType<typeof replayPolicy>
    try {
      decided = replayPolicy(document.text, record)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      return failed(error.message)
    }
    if (decided?.action !== record.action || decided.reason !== record.reason) {
      return failed(`Attestation ${attestationId}: the policy decides otherwise than the record says.`)
    }
  }
  return passed('The policy in the file decides as the records say.')
}

function passed(detail: string): AxisResult {
  return { outcome: 'pass', detail }
}

function failed(detail: string): AxisResult {
  return { outcome: 'fail', detail }
}

function notProvided(detail: string): AxisResult {
  return { outcome: 'not_provided', detail }
}
