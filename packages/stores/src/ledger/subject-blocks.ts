import type { Database, SqlRow } from '../driver.ts'
import { createRowInserter } from '../row-inserter.ts'
import { bytesOf, numbersOf } from './rows.ts'
import { linesOf, readLine, type SubjectBlock, type SubjectLine, textOf } from './subject-lines.ts'
import { NO_SUBJECTS, type PackedSpans, type PackedSubjects } from './transit.ts'

/*
 * Subjects lie beside the blocks of their records, one row for a block: a row for each would take longer to insert than
 * the records themselves.
 */

const COLUMNS = 3

/** Rows that one statement of an erasure reads. */
const ROWS_AT_ONCE = 64

/** The subjects of a ledger file. */
export interface SubjectBlocks {
  write(blocks: readonly SubjectBlock[]): void
  /** The lines of all blocks that records with these ids lie in; of one that two spans lie in, twice. */
  read(ids: PackedSpans): PackedSubjects
  /** Erases those of an address, within a transaction; gives how many. */
  eraseAddress(address: string): number
  /**
   * Erases what was issued before a moment among the next blocks behind an id; `upTo` is absent when there are none.
   * Within a transaction.
   */
  eraseNext(after: number, moment: number): { readonly erased: number; readonly upTo?: number }
}

export function createSubjectBlocks(database: Database): SubjectBlocks {
  const insert = createRowInserter(database, 'block_subjects', COLUMNS)
  // In one row: to make a row is what takes the time, and an audit reads every subject.
  const selectAround = database.prepare(
    `SELECT count(*) AS blocks, group_concat(first_id) AS ids, group_concat(octet_length(lines)) AS lengths,
       CAST(ifnull(group_concat(lines, ''), '') AS BLOB) AS lines
     FROM (SELECT CAST(key AS INTEGER) AS first, value AS last FROM json_each(?)) asked
     CROSS JOIN block_subjects ON first_id BETWEEN
       ifnull((SELECT max(first_id) FROM block_subjects WHERE first_id <= first), first) AND last`,
  )
  // An address stands behind a blank, and before one or the end of its line; to look for one text in all takes half as long.
  const selectNamed = database.prepare(
    `SELECT first_id, lines FROM block_subjects
     WHERE first_id > ?1 AND instr(lines, ' ' || ?2)
       AND (instr(lines, ' ' || ?2 || char(10)) OR instr(lines, ' ' || ?2 || ' '))
     ORDER BY first_id LIMIT ${ROWS_AT_ONCE}`,
  )
  const selectEnd = database.prepare(
    `SELECT max(first_id) AS end
     FROM (SELECT first_id FROM block_subjects WHERE first_id > ? ORDER BY first_id LIMIT ${ROWS_AT_ONCE})`,
  )
  const selectOld = database.prepare(
    'SELECT first_id, lines FROM block_subjects WHERE first_id > ? AND first_id <= ? AND oldest < ?',
  )
  const update = database.prepare('UPDATE block_subjects SET oldest = ?, lines = ? WHERE first_id = ?')
  const remove = database.prepare('DELETE FROM block_subjects WHERE first_id = ?')

  /** Erases within these rows, and gives how many. */
  function erase(rows: readonly SqlRow[], isMeant: (line: SubjectLine) => boolean): number {
    let erased = 0
    for (const row of rows) {
      const before = erased
      let oldest: number | undefined
      const lines = linesOf(String(row['lines'])).map((line) => {
        const read = readLine(line)
        if (read === undefined) return line
        if (isMeant(read)) {
          erased++
          return ''
        }
        oldest ??= read.issuedAt
        return line
      })
      if (erased === before) continue
      const firstId = Number(row['first_id'])
      if (oldest === undefined) remove.run(firstId)
      else update.run(oldest, textOf(lines), firstId)
    }
    return erased
  }

  return {
    write(blocks) {
      insert(blocks.flatMap(({ firstId, oldest, lines }) => [firstId, oldest, lines]))
    },
    read(ids) {
      const row = selectAround.get(ids)
      const blocks = Number(row?.['blocks'] ?? 0)
      if (row === undefined || blocks === 0) return NO_SUBJECTS
      const lengths = numbersOf(row, 'lengths', blocks)
      return { firstIds: numbersOf(row, 'ids', blocks), lines: { lengths, bytes: bytesOf(row, 'lines') } }
    },
    eraseAddress(address) {
      let erased = 0
      for (let after = 0; ; ) {
        const rows = selectNamed.all(after, address)
        erased += erase(rows, ({ subject }) => subject.address === address)
        if (rows.length < ROWS_AT_ONCE) return erased
        after = Number(rows[rows.length - 1]?.['first_id'])
      }
    },
    eraseNext(after, moment) {
      const end = selectEnd.get(after)?.['end'] ?? null
      if (end === null) return { erased: 0 }
      const upTo = Number(end)
      return { erased: erase(selectOld.all(after, upTo, moment), ({ issuedAt }) => issuedAt < moment), upTo }
    },
  }
}
