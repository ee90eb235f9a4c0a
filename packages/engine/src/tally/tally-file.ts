import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { HOUR_MS } from '@sallyport/core'
import {
  closeOnce,
  type Database,
  inTransaction,
  openDatabase,
  openReadOnly,
  type SqlRow,
  type Statement,
  setImpatient,
  whenFree,
} from '#stores/service'
import type { Cell, Slot, Subject } from './cells.ts'
import { mergeInto } from './sketch.ts'

/** Names the file in the dataDir. */
export const TALLY_FILE = 'tally.db'

export interface TallyRow {
  /** Hours since the epoch; the first hour where several rows are merged. */
  readonly hour: number
  readonly policy: string
  readonly subject: Subject
  readonly labels: readonly string[]
  readonly requests: number
  readonly bytes: number
  readonly pages: number
  readonly people?: Uint8Array | undefined
}

/** The moment from which another configuration decided. */
export interface Mark {
  /** Came at this time, in milliseconds since the epoch. */
  readonly at: number
  readonly policy: string
  /** Keys that a reload found changed; `start` when a process began with it. */
  readonly changed: readonly string[]
}

export interface TallyReading {
  /** Whether nothing was ever counted, or not for long. */
  readonly isEmpty: boolean
  /** The span begins here: milliseconds since the epoch, on the hour. */
  readonly from: number
  readonly until: number
  readonly rows: readonly TallyRow[]
  /** Lists the marks of all times, the oldest first. */
  readonly marks: readonly Mark[]
}

const STEPS: readonly string[] = [
  `CREATE TABLE mark (
     at INTEGER NOT NULL,
     policy TEXT NOT NULL,
     changed TEXT NOT NULL
   ) STRICT;
   CREATE TABLE tally (
     hour INTEGER NOT NULL,
     policy TEXT NOT NULL,
     subject TEXT NOT NULL,
     labels TEXT NOT NULL,
     requests INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     pages INTEGER NOT NULL,
     people BLOB,
     PRIMARY KEY (hour, policy, subject, labels)
   ) STRICT, WITHOUT ROWID;`,
]

/** Fastest: most registers of a sketch are zero. */
const PACKED = { level: 1 }

/** Opens the tally at `path`, for any number of processes of a machine. */
export async function openTallyFile(path: string) {
  const database = await openDatabase(path, STEPS)
  // A process that dies loses nothing by it; a machine that does loses what was written since the last checkpoint.
  database.exec('PRAGMA synchronous = NORMAL')
  setImpatient(database)
  const add = database.prepare(
    `INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
       requests = requests + excluded.requests, bytes = bytes + excluded.bytes, pages = pages + excluded.pages,
       people = coalesce(excluded.people, people)`,
  )
  const selectPeople = database.prepare(
    'SELECT people FROM tally WHERE hour = ? AND policy = ? AND subject = ? AND labels = ?',
  )
  const lastMark = database.prepare('SELECT policy FROM mark WHERE at <= ? ORDER BY at DESC, rowid DESC LIMIT 1')
  const mark = database.prepare('INSERT INTO mark VALUES (?, ?, ?)')
  const drop = database.prepare('DELETE FROM tally WHERE hour < ?')
  const dropMarks = database.prepare('DELETE FROM mark WHERE at < ?')

  return {
    /** Adds new counts, and a mark when the one before it has another configuration; all of it or nothing. */
    async write(slots: readonly Slot[], marks: readonly Mark[]): Promise<void> {
      const due = slots.map((slot) => [slot, slot.cells.filter((cell) => !cell.isWritten)] as const)
      await whenFree(() => {
        inTransaction(database, () => {
          for (const one of marks)
            if (lastMark.get(one.at)?.['policy'] !== one.policy)
              mark.run(one.at, one.policy, JSON.stringify(one.changed))
          for (const [slot, cells] of due) for (const cell of cells) addCell(add, selectPeople, slot, cell)
        })
        // In the same turn as the commit: a request that comes between would be lost or counted twice.
        for (const [, cells] of due) for (const cell of cells) cell.written()
      })
    },
    /** Drops what is older than an hour. */
    async purge(before: number): Promise<void> {
      await whenFree(() => {
        drop.run(before)
        dropMarks.run(before * HOUR_MS)
      })
    },
    close: closeOnce(database),
  }
}

function addCell(add: Statement, selectPeople: Statement, { hour, policy }: Slot, cell: Cell): void {
  const { subject, requests, bytes, pages, people } = cell
  const labels = JSON.stringify(cell.labels)
  if (people === undefined || !cell.hasNewPeople) {
    add.run(hour, policy, subject, labels, requests, bytes, pages, null)
    return
  }
  const before = selectPeople.get(hour, policy, subject, labels)?.['people']
  // The others' clients are kept here too: the next write of this process changes nothing then, and is left out.
  if (before instanceof Uint8Array) mergeInto(people, unpack(before))
  add.run(hour, policy, subject, labels, requests, bytes, pages, deflateRawSync(people, PACKED))
}

function unpack(people: Uint8Array): Uint8Array {
  return inflateRawSync(people)
}

function readMark({ at, policy, changed }: SqlRow): Mark {
  return { at: Number(at), policy: String(policy), changed: JSON.parse(String(changed)) as readonly string[] }
}

/** Subjects that are read by the hour; of the others an hour says nothing that is shown. */
const HOURLY: readonly Subject[] = ['decided', 'trial', 'crawler']

/** Reads the whole hours between two moments, in milliseconds since the epoch; a missing file counts as empty. */
export async function readTallyFile(path: string, from: number, until: number): Promise<TallyReading> {
  const [first, last] = [Math.floor(from / HOUR_MS), Math.ceil(until / HOUR_MS)]
  const database = await openReadOnly(path, STEPS)
  try {
    const marks = database.prepare('SELECT at, policy, changed FROM mark ORDER BY at, rowid').all()
    return {
      isEmpty: database.prepare('SELECT 1 FROM tally LIMIT 1').get() === undefined,
      from: first * HOUR_MS,
      until: last * HOUR_MS,
      rows: readRows(database, first, last),
      // One change comes from each process, a little apart.
      marks: marks.map(readMark).filter(({ policy }, at, all) => policy !== all[at - 1]?.policy),
    }
  } finally {
    database.close()
  }
}

function readRows(database: Database, first: number, last: number): readonly TallyRow[] {
  const hourly = HOURLY.map((subject) => `'${subject}'`).join()
  const single = database.prepare(`SELECT * FROM tally WHERE hour >= ? AND hour < ? AND subject IN (${hourly})`)
  const summed = database.prepare(
    `SELECT min(hour) AS hour, policy, subject, labels, sum(requests) AS requests, sum(bytes) AS bytes, sum(pages) AS pages
     FROM tally WHERE hour >= ? AND hour < ? AND subject NOT IN (${hourly}) GROUP BY policy, subject, labels`,
  )
  return [...single.all(first, last), ...summed.all(first, last)].map(readRow)
}

function readRow(row: SqlRow): TallyRow {
  const people = row['people']
  return {
    hour: Number(row['hour']),
    policy: String(row['policy']),
    subject: String(row['subject']) as Subject,
    labels: JSON.parse(String(row['labels'])) as readonly string[],
    requests: Number(row['requests']),
    bytes: Number(row['bytes']),
    pages: Number(row['pages']),
    people: people instanceof Uint8Array ? unpack(people) : undefined,
  }
}
