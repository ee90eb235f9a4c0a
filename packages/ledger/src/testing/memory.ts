import type { AddressRecord, CheckpointArchive, Head, LedgerStore, SignedHead, StoredRecord } from '../ports.ts'
import type { Subject } from '../record.ts'
import { KEY_LOG } from '../signing.ts'
import { leafTile, openFrontier, TILE_WIDTH } from '../tree.ts'

/** Keeps a ledger in memory, where tests can tamper with it. */
export interface MemoryLedger extends LedgerStore {
  readonly rows: StoredRecord[]
  readonly ends: Map<string, Head>
  readonly notes: SignedHead[]
  readonly personal: Map<number, Subject>
  readonly texts: Map<string, string>
}

export function createMemoryLedger(origin: string): MemoryLedger {
  const rows: StoredRecord[] = []
  const ends = new Map<string, Head>()
  const notes: SignedHead[] = []
  const personal = new Map<number, Subject>()
  const issued = new Map<number, number>()
  const texts = new Map<string, string>()
  const nodes = new Map<string, Uint8Array[]>()

  const listRows = (log: string) => rows.filter((row) => row.log === log).sort((x, y) => x.seq - y.seq)
  const isAbout = ({ address }: Subject, asked: string) => address.split(' ').includes(asked)

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
    heads: async (names) => ({
      nextId: rows.length + 1,
      logs: new Map([...ends].filter(([name]) => names.includes(name))),
    }),
    async commit(batch, expected) {
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
    },
    logs: async () => [...ends.keys()],
    find: async (attestationId, log) => rows.find((row) => row.attestationId === attestationId && row.log === log),
    records: async (log, from, count) => {
      const following = listRows(log).filter(({ seq }) => seq >= from)
      return following.slice(0, count)
    },
    async tile(log, tileLevel, index) {
      const [start, end] = [index * TILE_WIDTH, (index + 1) * TILE_WIDTH]
      if (tileLevel > 0) return Buffer.concat((nodes.get(`${log} ${tileLevel}`) ?? []).slice(start, end))
      const leaves = listRows(log).slice(start, end)
      return leafTile(leaves.map(({ bytes }) => bytes))
    },
    subjects: async (ids) => new Map([...personal].filter(([id]) => ids.includes(id))),
    async recordsAbout(address, after, count) {
      const found = rows.flatMap((row): readonly AddressRecord[] => {
        const subject = personal.get(row.attestationId)
        if (subject === undefined || !isAbout(subject, address) || row.attestationId <= after) return []
        return [subject.context === undefined ? row : { ...row, context: subject.context }]
      })
      return found.slice(0, count)
    },
    ...keepCheckpoints(ends, notes),
    putDocument: async ({ sha256, text }) => void texts.set(sha256, text),
    document: async (sha256) => texts.get(sha256),
    eraseSubject: async (address) => erase((_, subject) => isAbout(subject, address)),
    eraseBefore: async (moment) => erase((id) => (issued.get(id) ?? 0) < moment),
    close: async () => {},
  }
}

function keepCheckpoints(
  ends: ReadonlyMap<string, Head>,
  notes: SignedHead[],
): Pick<LedgerStore, 'uncovered' | 'putCheckpoint' | 'checkpoints' | 'allCheckpoints'> {
  const listNotes = (log: string) => notes.filter((note) => note.log === log).sort((x, y) => x.size - y.size)
  return {
    async uncovered(limit) {
      const logs = [...ends].map(([log, { size, peaks }]) => {
        return { log, size, root: openFrontier(size, peaks).root(), covered: listNotes(log).at(-1)?.size ?? 0 }
      })
      return logs.filter(({ size, covered }) => size > covered).slice(0, limit)
    },
    async putCheckpoint(head, after, keyCount) {
      const newest = listNotes(head.log).at(-1)
      if ((newest?.size ?? 0) !== after || (ends.get(KEY_LOG)?.size ?? 0) !== keyCount) return false
      if (newest?.size === head.size) notes.splice(notes.indexOf(newest), 1)
      notes.push(head)
      return true
    },
    async checkpoints(log, seq) {
      const all = listNotes(log)
      const newest = all.at(-1)?.note
      const covering = all.find(({ size }) => size > seq)?.note
      return { ...(newest === undefined ? {} : { newest }), ...(covering === undefined ? {} : { covering }) }
    },
    allCheckpoints: async (log) => listNotes(log),
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
