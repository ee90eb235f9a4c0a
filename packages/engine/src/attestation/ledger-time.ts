import {
  type LedgerStore,
  listNewestAnchors,
  type NewestAnchor,
  parseCheckpoint,
  parseWitness,
  readCosignatures,
  type Witness,
} from '@sallyport/ledger'
import type { Timestamps } from '@sallyport/ledger/timestamp'

/** Says what authorities and witnesses outside prove of a ledger's logs. A missing anchor is `not_provided`; a bad one is `fail`. */
export interface LedgerTime {
  readonly outcome: 'pass' | 'fail' | 'not_provided'
  /** Explains the outcome to operators in one sentence. */
  readonly detail: string
  /** The first records of each log existed before these moments; empty unless a trusted authority says so. */
  readonly logs: readonly { readonly log: string; readonly records: number; readonly provedBefore: string }[]
}

/** Checks the newest anchor of every log by trusted certificates (PEM) and verifier keys. Rejects if a text holds no certificate or key. */
export async function readLedgerTime(
  store: LedgerStore,
  authorities: string | undefined,
  witnesses: readonly string[],
): Promise<LedgerTime> {
  const anchors = await listNewestAnchors(store)
  if (anchors.length === 0) return { outcome: 'not_provided', detail: 'No log has a timestamp.', logs: [] }
  const isStamped = anchors.some(({ timestamps }) => Object.keys(timestamps).length > 0)
  const reader = isStamped ? await openReader(authorities) : undefined
  const trusted = witnesses.map(parseWitness)
  const logs: LedgerTime['logs'][number][] = []
  for (const anchor of anchors) {
    const found = await readAnchor(anchor, reader, trusted)
    if ('reason' in found) return { outcome: 'fail', detail: `Log ${anchor.log}: ${found.reason}`, logs: [] }
    if (found.provedBefore !== undefined) {
      logs.push({ log: anchor.log, records: anchor.size, provedBefore: found.provedBefore })
    }
  }
  if (logs.length === anchors.length)
    return { outcome: 'pass', detail: 'Every anchored log is the one that was stamped or cosigned.', logs }
  return authorities === undefined || !isStamped
    ? {
        outcome: 'not_provided',
        detail: 'Nothing proves who stamped. Pass the certificates with --timestamp-ca.',
        logs,
      }
    : { outcome: 'fail', detail: 'A log has no timestamp of an authority that you trust.', logs }
}

async function openReader(authorities: string | undefined): Promise<Timestamps> {
  const { openTimestamps } = await import('@sallyport/ledger/timestamp')
  return openTimestamps(authorities)
}

async function readAnchor(
  { size, checkpoint, timestamps, cosignatures, holds }: NewestAnchor,
  reader: Timestamps | undefined,
  witnesses: readonly Witness[],
): Promise<{ readonly reason: string } | { readonly provedBefore?: string | undefined }> {
  if (!holds) return { reason: `its first ${size} records are not those that were stamped.` }
  const times: string[] = []
  for (const [authority, response] of Object.entries(timestamps)) {
    const found = await reader?.read(response, Buffer.from(checkpoint))
    if (found?.state === 'bad') return { reason: `the timestamp of ${authority} is not valid: ${found.reason}.` }
    if (found?.state === 'good') times.push(found.time)
  }
  const cosigned = parseCheckpoint(`${checkpoint}${cosignatures}`)
  for (const { name, time, state } of cosigned === undefined ? [] : readCosignatures(cosigned, witnesses)) {
    if (state === 'bad') return { reason: `the cosignature of ${name} is not valid.` }
    if (state === 'good') times.push(time)
  }
  return { provedBefore: times.sort()[0] }
}
