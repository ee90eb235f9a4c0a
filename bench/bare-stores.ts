import { open } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'

/* The disk and SQLite alone, for records that nobody builds, hashes or signs. */

/** A record as long as ours is. */
export const RECORD = Buffer.alloc(720, 'x')

/** A file that callers append to: what all of them bring in one turn is written at once and synced once. */
export async function bareFile(path: string): Promise<{ append(): Promise<void>; close(): Promise<void> }> {
  const file = await open(path, 'a')
  let waiting: (() => void)[] = []
  let writing = false

  async function write(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await file.writev(batch.map(() => RECORD))
      await file.datasync()
      for (const done of batch) done()
      // Those that were woken come back first.
      await new Promise((resolve) => setImmediate(resolve))
    }
    writing = false
  }

  return {
    append: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (!writing) queueMicrotask(() => (writing ? undefined : void write()))
      }),
    close: () => file.close(),
  }
}

export function bareSqlite(path: string): { insert(count: number): void; close(): void } {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE record (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT')
  const insert = database.prepare('INSERT INTO record (bytes) VALUES (?)')
  return {
    insert(count) {
      database.exec('BEGIN IMMEDIATE')
      for (let row = 0; row < count; row++) insert.run(RECORD)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}
