import type { AddressRecord, CheckpointArchive, Head, LedgerStore, SignedHead, StoredRecord } from '../ports.ts'
import type { Subject } from '../record.ts'
import { KEY_LOG } from '../signing.ts'
import { leafTile, openFrontier, TILE_WIDTH } from '../tree.ts'

/** Returns a fault before an operation, which then fails with the error. */
export type StoreFault = (operation: keyof LedgerStore) => Error | undefined

/** Keeps a ledger in memory, where tests can tamper with it. */
export interface MemoryLedger extends LedgerStore {
  readonly rows: StoredRecord[]
  readonly ends: Map<string, Head>
  readonly notes: SignedHead[]
  readonly personal: Map<number, Subject>
  readonly texts: Map<string, string>
}

export function createMemoryLedger(origin: string, fault: StoreFault = () => undefined): MemoryLedger {
  const rows: StoredRecord[] = []
  const ends = new Map<string, Head>()
  const notes: SignedHead[] = []
  const personal = new Map<number, Subject>()
  const issued = new Map<number, number>()
  const texts = new Map<string, string>()
  const nodes = new Map<string, Uint8Array[]>()

  function run<T>(operation: keyof LedgerStore, work: () => T): Promise<T> {
    const error = fault(operation)
    return error === undefined ? Promise.resolve().then(work) : Promise.reject(error)
  }

  const of = (log: string) => rows.filter((row) => row.log === log).sort((x, y) => x.seq - y.seq)

  function erase(chosen: (id: number, subject: Subject) => boolean): number {
    const found = [...personal].filter(([id, subject]) => chosen(id, subject))
    for (const [id] of found) personal.delete(id)
    return found.length
  }

  return {
    origin,
    rows,
    ends,
    notes,
    personal,
    texts,
    heads: (names) =>
      run('heads', () => {
        const logs = new Map([...ends].filter(([name]) => names.includes(name)))
        return { nextId: rows.length + 1, logs }
      }),
    commit: (batch, expected) =>
      run('commit', () => {
        if (expected.nextId !== rows.length + 1) return false
        for (const { log, attestationId, seq, text, issuedAt, subject } of batch.records) {
          rows.push({ log, attestationId, seq, bytes: Buffer.from(text) })
          issued.set(attestationId, issuedAt)
          if (subject !== undefined) personal.set(attestationId, subject)
        }
        for (const { log, tileLevel, hash } of batch.nodes) {
          const key = `${log} ${tileLevel}`
          nodes.set(key, [...(nodes.get(key) ?? []), hash])
        }
        for (const [log, head] of batch.heads) ends.set(log, head)
        return true
      }),
    logs: () => run('logs', () => [...ends.keys()]),
    find: (attestationId, log) =>
      run('find', () => rows.find((row) => row.attestationId === attestationId && row.log === log)),
    records: (log, from, count) =>
      run('records', () =>
        of(log)
          .filter(({ seq }) => seq >= from)
          .slice(0, count),
      ),
    tile: (log, tileLevel, index) =>
      run('tile', () => {
        const [start, end] = [index * TILE_WIDTH, (index + 1) * TILE_WIDTH]
        if (tileLevel === 0)
          return leafTile(
            of(log)
              .slice(start, end)
              .map(({ bytes }) => bytes),
          )
        return Buffer.concat((nodes.get(`${log} ${tileLevel}`) ?? []).slice(start, end))
      }),
    subjects: (ids) => run('subjects', () => new Map([...personal].filter(([id]) => ids.includes(id)))),
    recordsAbout: (address, after, count) =>
      run('recordsAbout', () => recordsAbout(rows, personal, address, after).slice(0, count)),
    ...memoryCheckpoints(ends, notes, run),
    putDocument: ({ sha256, text }) => run('putDocument', () => void texts.set(sha256, text)),
    document: (sha256) => run('document', () => texts.get(sha256)),
    eraseSubject: (address) =>
      run('eraseSubject', () => erase((_, subject) => subject.address.split(' ').includes(address))),
    eraseBefore: (moment) => run('eraseBefore', () => erase((id) => (issued.get(id) ?? 0) < moment)),
    close: async () => {},
  }
}

function recordsAbout(
  rows: readonly StoredRecord[],
  personal: ReadonlyMap<number, Subject>,
  about: string,
  after: number,
): readonly AddressRecord[] {
  return rows.flatMap((row) => {
    const subject = personal.get(row.attestationId)
    if (subject?.address.split(' ').includes(about) !== true || row.attestationId <= after) return []
    return [subject.context === undefined ? row : { ...row, context: subject.context }]
  })
}

type Run = <T>(operation: keyof LedgerStore, work: () => T) => Promise<T>

function memoryCheckpoints(
  ends: ReadonlyMap<string, Head>,
  notes: SignedHead[],
  run: Run,
): Pick<LedgerStore, 'uncovered' | 'putCheckpoint' | 'checkpoints' | 'allCheckpoints'> {
  const listNotes = (log: string) => notes.filter((note) => note.log === log).sort((x, y) => x.size - y.size)
  return {
    uncovered: (limit) =>
      run('uncovered', () =>
        [...ends]
          .map(([log, { size, peaks }]) => {
            return { log, size, root: openFrontier(size, peaks).root(), covered: listNotes(log).at(-1)?.size ?? 0 }
          })
          .filter(({ size, covered }) => size > covered)
          .slice(0, limit),
      ),
    putCheckpoint: (head, after, keyCount) =>
      run('putCheckpoint', () => {
        const newest = listNotes(head.log).at(-1)
        if ((newest?.size ?? 0) !== after || (ends.get(KEY_LOG)?.size ?? 0) !== keyCount) return false
        if (newest?.size === head.size) notes.splice(notes.indexOf(newest), 1)
        notes.push(head)
        return true
      }),
    checkpoints: (log, seq) =>
      run('checkpoints', () => {
        const all = listNotes(log)
        const newest = all.at(-1)?.note
        const covering = all.find(({ size }) => size > seq)?.note
        return { ...(newest === undefined ? {} : { newest }), ...(covering === undefined ? {} : { covering }) }
      }),
    allCheckpoints: (log) => run('allCheckpoints', () => listNotes(log)),
  }
}

/** Keeps checkpoints outside the store, in memory. */
export function createMemoryArchive(): CheckpointArchive & { readonly notes: Map<string, string> } {
  const notes = new Map<string, string>()
  return {
    notes,
    list: async () => [...notes].map(([name, note]) => ({ name, note })),
    write: async ({ log, note }) => void notes.set(log, note),
  }
}
