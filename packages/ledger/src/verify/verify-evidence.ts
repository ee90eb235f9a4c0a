import { authenticity } from './authenticity.ts'
import { type AxisResult, failed, notProvided, passed, sumUp } from './axis-result.ts'
import { parseWitness } from './cosignature.ts'
import { counted } from './counted.ts'
import { type Evidence, type EvidenceRecord, parseEvidence } from './evidence-form.ts'
import { commitment, genesisLink, leafHash, sha256Hex } from './hash.ts'
import { parseJson } from './json.ts'
import { parseJwks } from './keys.ts'
import { replayPolicy } from './replay.ts'
import { ShapeError } from './shape.ts'
import { type TimestampFindings, time } from './time.ts'
import { foldPath, isConsistent, sameBytes } from './tree.ts'

/**
 * The checks, each apart from the others: a file may be whole and still be signed by nobody one trusts.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { AXES, verifyEvidence } from '@sallyport/ledger/verify'
 *
 * const { axes } = verifyEvidence(readFileSync('evidence.json', 'utf8'))
 * for (const axis of AXES) console.log(axis, axes[axis].outcome, axes[axis].detail)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/evidence.md#evidence
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
  'time',
] as const
/** Names one of the checks in `AXES`. */
export type Axis = (typeof AXES)[number]

/** Holds the decision that a record contains. */
export interface RecordedDecision {
  /** Numbers the record; the ledger gives each record a higher number. */
  readonly attestationId: number
  /** The clock of the service gave this time, ISO 8601 in UTC. */
  readonly time: string
  /** Absent if the address was erased, or left out of the file. */
  readonly address?: string | undefined
  readonly claim: string
  /** Absent if the service did not know the country. */
  readonly country?: string | undefined
  /** Present if the claim names a region. */
  readonly region?: string | undefined
  readonly networkOrigin: string
  readonly action: string
  /** Names the rule of the policy that decided. */
  readonly reason: string
}

/** Says what `verifyEvidence` found, axis by axis. */
export interface EvidenceReport {
  /** True if no check failed. */
  readonly ok: boolean
  /** True if no check failed and the caller's keys signed the records. */
  readonly isProven: boolean
  /** Holds the facts that the records prove; empty if a check failed. */
  readonly records: readonly RecordedDecision[]
  /** All records existed before this moment, according to an authority or a witness that the caller trusts; ISO 8601 in UTC. */
  readonly provedBefore?: string | undefined
  readonly axes: Readonly<Record<Axis, AxisResult>>
}

/**
 * Checks a piece of evidence, offline. `evidence` is the text of the file, in which a member that is there twice is seen,
 * or the parsed JSON, in which it is not any more; `keys` is the JWKS that the caller trusts, as text or parsed, had from
 * the service or kept from earlier, and never from the file. Never throws for bad evidence; throws ShapeError for `keys`
 * that are no JWKS (RFC 7517). `timestamps` are the findings that `readTimestamps` of `@sallyport/ledger/timestamp` gives;
 * without them timestamps prove nothing. `witnesses` are the verifier keys (C2SP vkey) of the witnesses that the caller trusts;
 * throws ShapeError for one that is none.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { verifyEvidence } from '@sallyport/ledger/verify'
 *
 * const read = (file: string): string => readFileSync(file, 'utf8')
 * const { ok, axes } = verifyEvidence(read('evidence.json'), read('keys.json'))
 * console.log(ok, axes.authenticity.outcome, axes.integrity.detail)
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/evidence.md#evidence
 * @see https://www.rfc-editor.org/rfc/rfc6962#section-2.1
 */
export function verifyEvidence(
  evidence: unknown,
  keys?: unknown,
  timestamps?: TimestampFindings,
  witnesses: readonly string[] = [],
): EvidenceReport {
  const known = witnesses.map(parseWitness)
  const trusted = keys === undefined ? undefined : parseJwks(typeof keys === 'string' ? parseJson(keys, 'keys') : keys)
  const isText = typeof evidence === 'string'
  let parsed: Evidence
  try {
    parsed = parseEvidence(isText ? parseJson(evidence, 'The file') : evidence)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return makeReport({ format: failed(error.message) }, [])
  }
  const { axis, provedBefore } = time(parsed, parsed.records, timestamps, known)
  const found = {
    format: passed(describeForm(parsed, isText)),
    authenticity: authenticity(parsed, trusted),
    integrity: integrity(parsed),
    inclusion: inclusion(parsed),
    consistency: consistency(parsed),
    completeness: completeness(parsed),
    disclosure: disclosure(parsed),
    policy_replay: policyReplay(parsed),
    time: axis,
  }
  return makeReport(found, parsed.records.map(describeRecord), provedBefore)
}

function describeRecord({ attestationId, record, disclosure }: EvidenceRecord): RecordedDecision {
  const { issuedAt: time, claim, country, region, networkOrigin, action, reason } = record
  const place = region === undefined ? { country } : { country, region }
  return { attestationId, time, address: disclosure?.address, claim, ...place, networkOrigin, action, reason }
}

function describeForm({ records, createdAt }: Evidence, isText: boolean): string {
  const form = `${counted(records.length, 'record')} in the form of this version; the time of the export, ${createdAt}, is not signed.`
  return isText ? form : `${form} Given as parsed JSON: a member that was there twice cannot be seen.`
}

function makeReport(
  found: Readonly<Partial<Record<Axis, AxisResult>>>,
  records: readonly RecordedDecision[],
  provedBefore?: string,
): EvidenceReport {
  const { ok, isProven, axes } = sumUp(AXES, found)
  const proved = ok && provedBefore !== undefined ? { provedBefore } : {}
  return { ok, isProven, records: ok ? records : [], ...proved, axes }
}

function integrity(evidence: Evidence): AxisResult {
  const { records, previous, next, log, origin, checkpoint } = evidence
  if (!log.startsWith(`${origin}/`)) return failed('The log does not belong to this ledger.')
  for (const [index, { record, attestationId, seq }] of records.entries()) {
    const name = `Attestation ${attestationId}`
    if (record.attestationId !== attestationId || record.seq !== seq || record.log !== log) {
      return failed(`${name}: the record names another id, place or log than the file.`)
    }
    const before = records[index - 1]
    if (before !== undefined && seq === before.seq + 1 && record.prev !== leafHash(before.bytes).toString('hex')) {
      return failed(`${name}: does not link to the record before it.`)
    }
    if (before !== undefined && record.issuedAt < before.record.issuedAt) return failed(`${name} goes back in time.`)
  }
  const misfit = findMisfit(evidence)
  if (misfit !== undefined) return failed(misfit)
  const first = records[0] as EvidenceRecord
  const last = records.at(-1) as EvidenceRecord
  const link = first.seq === 0 ? genesisLink(log) : Buffer.from(previous?.leaf ?? []).toString('hex')
  if (first.record.prev !== link || (previous !== undefined && previous.seq !== first.seq - 1)) {
    return failed(`Attestation ${first.attestationId} does not link to the record before it.`)
  }
  if (next !== undefined && next.seq !== last.seq + 1) return failed('The successor is not the next record.')
  if (next === undefined && last.seq + 1 < checkpoint.size)
    return failed('The record after the last is not in the file.')
  return passed('The records, their links, the policy and the list of data sets match their hashes.')
}

/** Returns what is wrong if the documents in the file differ from those that its records name, each once and in that order. */
function findMisfit({ records, policies, datasets }: Evidence): string | undefined {
  for (const [what, named, documents] of [
    ['policy', records.map(({ record }) => record.policySha256), policies],
    ['dataset list', records.map(({ record }) => record.datasetsSha256), datasets],
  ] as const) {
    const wanted = [...new Set(named)]
    const missing = records.find((_, index) => !documents.some(({ sha256 }) => sha256 === named[index]))
    if (missing !== undefined) {
      return `Attestation ${missing.attestationId}: the ${what} that the record names is missing from the file.`
    }
    const changed = documents.find(({ sha256, text }) => sha256Hex(text) !== sha256)
    if (changed !== undefined) return `The ${what} ${changed.sha256} does not match its hash.`
    if (documents.length !== wanted.length || documents.some(({ sha256 }, index) => sha256 !== wanted[index])) {
      return `The file has a ${what} that no record names, or has them in another order.`
    }
  }
  return undefined
}

function inclusion({ records, previous, next, checkpoint, log }: Evidence): AxisResult {
  if (checkpoint.origin !== log) return failed('The checkpoint belongs to another log.')
  const leaves = [
    ...records.map(({ seq, bytes, path }) => ({ seq, leaf: leafHash(bytes), path })),
    ...(previous === undefined ? [] : [previous]),
    ...(next === undefined ? [] : [next]),
  ]
  for (const { seq, leaf, path } of leaves) {
    const root = foldPath(leaf, seq, checkpoint.size, path)
    if (root === undefined || !sameBytes(root, checkpoint.root)) {
      return failed(`The checkpoint does not cover record ${seq} of the log.`)
    }
  }
  return passed(`The checkpoint at size ${checkpoint.size} covers the records.`)
}

function consistency({ earlier, checkpoint }: Evidence): AxisResult {
  if (earlier === undefined) return notProvided('The file has no earlier checkpoint.')
  const { size, root, origin } = earlier.checkpoint
  if (origin !== checkpoint.origin || !isConsistent(size, root, checkpoint.size, checkpoint.root, earlier.proof)) {
    return failed(`The log at size ${checkpoint.size} does not continue the log at size ${size}.`)
  }
  return passed(`The log at size ${checkpoint.size} continues the log at size ${size}.`)
}

/** Checks that these are all requested records; for a single record that cannot be known. */
function completeness({ query, records, checkpoint }: Evidence): AxisResult {
  const first = records[0] as EvidenceRecord
  const last = records.at(-1) as EvidenceRecord
  if (!records.every(({ seq }, index) => seq === first.seq + index))
    return failed('There are gaps between the records.')
  if ('attestationId' in query) {
    if (records.length > 1) return failed('The export requested one record, but the file has more.')
    return first.attestationId === query.attestationId
      ? notProvided('The export requested one record, so there is nothing to complete.')
      : failed('The requested record is missing from the file.')
  }
  const { from, to } = query
  const inSpan = records.filter(({ record: { issuedAt } }) => issuedAt >= from && issuedAt <= to)
  if (inSpan.length === 0) return failed('The file has no record of the requested span.')
  // At most one record lies beyond each end, which shows that none is missing.
  if (records.filter(({ record }) => record.issuedAt < from).length > 1)
    return failed('The file has records from before the requested span.')
  if (records.filter(({ record }) => record.issuedAt > to).length > 1)
    return failed('The file has records from after the requested span.')
  if (first.seq > 0 && first.record.issuedAt >= from) return failed('Earlier records of the span may be missing.')
  if (last.seq < checkpoint.size - 1 && last.record.issuedAt <= to) {
    return failed('Later records of the span may be missing.')
  }
  return passed(`The file has all records of the log from ${from} to ${to}, as of the checkpoint.`)
}

function disclosure({ records }: Evidence): AxisResult {
  let disclosed = 0
  const hidden: number[] = []
  for (const { record, disclosure, attestationId } of records) {
    if (disclosure === undefined) continue
    disclosed++
    const { address, salt, context } = disclosure
    const good =
      commitment(salt, address) === record.subject &&
      (context === undefined || commitment(salt, context) === record.context)
    if (!good) return failed(`Attestation ${attestationId}: the address or the context does not match the record.`)
    if (context === undefined && record.context !== undefined) hidden.push(attestationId)
  }
  if (disclosed === 0) return notProvided('The address was erased or omitted.')
  const found = `The address matches ${disclosed} of ${counted(records.length, 'record')}`
  if (hidden.length > 0) {
    return notProvided(`${found}; of attestation ${hidden.join(', ')} a context was recorded that is not in the file.`)
  }
  return passed(disclosed < records.length ? `${found}; the others were erased or omitted.` : `${found}.`)
}

function policyReplay({ records, policies }: Evidence): AxisResult {
  for (const { record, attestationId } of records) {
    const document = policies.find(({ sha256 }) => sha256 === record.policySha256)
    if (document === undefined) return failed(`Attestation ${attestationId}: its policy is missing from the file.`)
    let decided: ReturnType<typeof replayPolicy>
    try {
      decided = replayPolicy(document.text, record)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      return failed(error.message)
    }
    if (decided?.action !== record.action || decided.reason !== record.reason) {
      return failed(`Attestation ${attestationId}: the policy leads to another decision than the recorded one.`)
    }
  }
  return passed('The policy in the file leads to the recorded decisions.')
}
