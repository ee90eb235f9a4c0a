import {
  type AddressRecord,
  type Head,
  type Heads,
  leafTile,
  openFrontier,
  type SignedHead,
  type StoredRecord,
  type Subject,
  TILE_WIDTH,
  type Uncovered,
} from '@sallyport/ledger'

/** A row of the ledger's tables, as either database gives it. */
type LedgerRow = Readonly<Record<string, unknown>>

type Value = number | string | readonly (number | string)[]

/** A read of `LedgerStore`: a statement with `?1` …, its values, and what its rows mean. */
export interface LedgerRead<T> {
  readonly sql: string
  readonly values: readonly Value[]
  readonly read: (rows: readonly LedgerRow[]) => T
}

/** What the databases write in different ways. */
export interface LedgerDialect {
  /** Begins the names of the tables, except the one named `ledger`. */
  readonly prefix: '' | 'ledger_'
  /** Names the function that finds a text in another, from 1. */
  readonly find: 'instr' | 'strpos'
  /** Compares a column with a list, the first value of a statement. */
  readonly isListed: string
  readonly makeList: (values: readonly (number | string)[]) => Value
}

/** Writes the condition that a row of subjects names the address, the `place` of the values: a record of crawling has several, with spaces between. */
export function namesAddress({ find }: Pick<LedgerDialect, 'find'>, place: string): string {
  return `${find}(' ' || address || ' ', ' ' || CAST(${place} AS text) || ' ') > 0`
}

/** Lists the reads of `LedgerStore` for a database; each read is one statement. */
export function listLedgerReads(dialect: LedgerDialect) {
  const { prefix, isListed, makeList } = dialect
  const logId = `(SELECT id FROM ${prefix}log WHERE name = ?1)`
  const record = `SELECT attestation_id, seq, bytes FROM ${prefix}record WHERE log = ${logId}`
  const note = `SELECT note FROM ${prefix}checkpoint WHERE log = ${logId}`
  const readRecords = (log: string) => (rows: readonly LedgerRow[]) => rows.map((row) => readRecord(log, row))

  return {
    heads: (names: readonly string[]): LedgerRead<Heads> => ({
      sql: `SELECT next_id, l.* FROM ledger LEFT JOIN ${prefix}log l ON l.name ${isListed}`,
      values: [makeList(names)],
      read: (rows) => {
        const grown = rows.filter((row) => row['name'] !== null)
        const logs = new Map(grown.map((row) => [String(row['name']), readHead(row)]))
        return { nextId: Number(rows[0]?.['next_id']), logs }
      },
    }),
    logs: (): LedgerRead<readonly string[]> => ({
      sql: `SELECT name FROM ${prefix}log ORDER BY id`,
      values: [],
      read: (rows) => rows.map((row) => String(row['name'])),
    }),
    find: (attestationId: number, log: string): LedgerRead<StoredRecord | undefined> => ({
      sql: `${record} AND attestation_id = ?2`,
      values: [log, attestationId],
      read: (rows) => readRecords(log)(rows)[0],
    }),
    records: (log: string, from: number, count: number): LedgerRead<readonly StoredRecord[]> => ({
      sql: `${record} AND seq >= ?2 ORDER BY seq LIMIT ?3`,
      values: [log, from, count],
      read: readRecords(log),
    }),
    tile(log: string, tileLevel: number, index: number): LedgerRead<Uint8Array> {
      const places = [index * TILE_WIDTH, (index + 1) * TILE_WIDTH]
      if (tileLevel === 0) {
        const sql = `${record} AND seq >= ?2 AND seq < ?3 ORDER BY seq`
        return { sql, values: [log, ...places], read: (rows) => leafTile(listBytes(rows, 'bytes')) }
      }
      const sql = `SELECT hash FROM ${prefix}node WHERE log = ${logId} AND level = ?2 AND place >= ?3 AND place < ?4 ORDER BY place`
      return { sql, values: [log, tileLevel, ...places], read: (rows) => Buffer.concat(listBytes(rows, 'hash')) }
    },
    subjects: (ids: readonly number[]): LedgerRead<ReadonlyMap<number, Subject>> => ({
      sql: `SELECT * FROM ${prefix}subject WHERE attestation_id ${isListed}`,
      values: [makeList(ids)],
      read: (rows) => new Map(rows.map((row) => [Number(row['attestation_id']), readSubject(row)])),
    }),
    recordsAbout: (address: string, after: number, count: number) => ({
      sql: `SELECT s.context, r.*, l.name FROM ${prefix}subject s
        JOIN ${prefix}record r ON r.attestation_id = s.attestation_id JOIN ${prefix}log l ON l.id = r.log
        WHERE ${namesAddress(dialect, '?1')} AND s.attestation_id > ?2 ORDER BY s.attestation_id LIMIT ?3`,
      values: [address, after, count],
      read: (rows: readonly LedgerRow[]) => rows.map(readAddressRecord),
    }),
    uncovered: (limit: number) => ({
      sql: `SELECT * FROM ${prefix}log WHERE size > covered ORDER BY id LIMIT ?1`,
      values: [limit],
      read: (rows: readonly LedgerRow[]) => rows.map(readUncovered),
    }),
    checkpoints: (log: string, seq: number) => ({
      sql: `SELECT (${note} ORDER BY size DESC LIMIT 1) AS newest, (${note} AND size > ?2 ORDER BY size LIMIT 1) AS covering`,
      values: [log, seq],
      read: ([row]: readonly LedgerRow[]): { readonly newest?: string; readonly covering?: string } => ({
        ...(typeof row?.['newest'] === 'string' && { newest: row['newest'] }),
        ...(typeof row?.['covering'] === 'string' && { covering: row['covering'] }),
      }),
    }),
    allCheckpoints: (log: string): LedgerRead<readonly SignedHead[]> => ({
      sql: `SELECT size, note FROM ${prefix}checkpoint WHERE log = ${logId} ORDER BY size`,
      values: [log],
      read: (rows) => rows.map((row) => ({ log, size: Number(row['size']), note: String(row['note']) })),
    }),
    document: (sha256: string): LedgerRead<string | undefined> => ({
      sql: `SELECT text FROM ${prefix}document WHERE sha256 = ?1`,
      values: [sha256],
      read: ([row]) => (row === undefined ? undefined : String(row['text'])),
    }),
  }
}

type Reads = ReturnType<typeof listLedgerReads>
type Read<Name extends keyof Reads> = ReturnType<ReturnType<Reads[Name]>['read']>

/** Makes a function of each read, of what `run` makes of it. */
export function mapLedgerReads(dialect: LedgerDialect, run: (read: LedgerRead<unknown>) => unknown): object {
  const rows = Object.entries(listLedgerReads(dialect)).map(([name, describe]) => {
    const call = (...values: never[]) => run((describe as (...values: never[]) => LedgerRead<unknown>)(...values))
    return [name, call]
  })
  return Object.fromEntries(rows)
}

/** Has the reads of a database that answers at once. */
export type LedgerReads = { readonly [Name in keyof Reads]: (...values: Parameters<Reads[Name]>) => Read<Name> }
/** The reads of a database that is asked over a connection. */
export type RemoteLedgerReads = {
  readonly [Name in keyof Reads]: (...values: Parameters<Reads[Name]>) => Promise<Read<Name>>
}

function readHead(row: LedgerRow): Head {
  return {
    size: Number(row['size']),
    link: String(row['link']),
    issuedAt: Number(row['issued_at']),
    peaks: readBytes(row, 'peaks'),
  }
}

function readRecord(log: string, row: LedgerRow): StoredRecord {
  return { log, attestationId: Number(row['attestation_id']), seq: Number(row['seq']), bytes: readBytes(row, 'bytes') }
}

function readAddressRecord(row: LedgerRow): AddressRecord {
  return { ...readRecord(String(row['name']), row), ...readContext(row) }
}

function readUncovered(row: LedgerRow): Uncovered {
  const { size, peaks } = readHead(row)
  return { log: String(row['name']), size, root: openFrontier(size, peaks).root(), covered: Number(row['covered']) }
}

function readSubject(row: LedgerRow): Subject {
  return { address: String(row['address']), salt: readBytes(row, 'salt'), ...readContext(row) }
}

function readContext({ context }: LedgerRow): Pick<Subject, 'context'> {
  return typeof context === 'string' ? { context } : {}
}

function listBytes(rows: readonly LedgerRow[], column: string): readonly Uint8Array[] {
  return rows.map((row) => readBytes(row, column))
}

function readBytes(row: LedgerRow, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`${column} holds no bytes.`)
  return value
}
