import {
  type AddressRecord,
  type Head,
  openFrontier,
  type StoredRecord,
  type Subject,
  type Uncovered,
} from '@sallyport/ledger'

/** A row of the ledger's tables, as either database gives it. */
export type LedgerRow = Readonly<Record<string, unknown>>

export function headOfRow(row: LedgerRow): Head {
  return {
    size: Number(row['size']),
    link: String(row['link']),
    issuedAt: Number(row['issued_at']),
    peaks: readBytes(row, 'peaks'),
  }
}

export function recordOfRow(log: string, row: LedgerRow): StoredRecord {
  return { log, attestationId: Number(row['attestation_id']), seq: Number(row['seq']), bytes: readBytes(row, 'bytes') }
}

/** Returns a record with the name of its log and the context beside it. */
export function addressRecordOfRow(row: LedgerRow): AddressRecord {
  const { context } = subjectOfRow({ ...row, address: '' })
  return { ...recordOfRow(String(row['name']), row), ...(context === undefined ? {} : { context }) }
}

/** Returns a log that has grown beyond its newest checkpoint. */
export function uncoveredOfRow(row: LedgerRow): Uncovered {
  const { size, peaks } = headOfRow(row)
  return { log: String(row['name']), size, root: openFrontier(size, peaks).root(), covered: Number(row['covered']) }
}

export function subjectOfRow(row: LedgerRow): Subject {
  const context = row['context']
  const subject = { address: String(row['address']), salt: readBytes(row, 'salt') }
  return context === null || context === undefined ? subject : { ...subject, context: String(context) }
}

export function readBytes(row: LedgerRow, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`${column} holds no bytes.`)
  return value
}
