import type { Database, SqlValue } from './driver.ts'

/** Rows that one statement inserts. */
const AT_ONCE = 16

/**
 * Inserts rows into a table of `columns` columns, many with each statement: that takes half as long as one by one. The
 * values come row behind row in one list: to put lists together takes longer than to insert them.
 */
export function createRowInserter(
  database: Database,
  table: string,
  columns: number,
): (values: readonly SqlValue[]) => void {
  const row = `(${Array.from({ length: columns }, () => '?').join()})`
  const one = database.prepare(`INSERT INTO ${table} VALUES ${row}`)
  const many = database.prepare(`INSERT INTO ${table} VALUES ${Array.from({ length: AT_ONCE }, () => row).join()}`)
  return (values) => {
    let done = 0
    for (; values.length - done >= AT_ONCE * columns; done += AT_ONCE * columns)
      many.run(...values.slice(done, done + AT_ONCE * columns))
    for (; done < values.length; done += columns) one.run(...values.slice(done, done + columns))
  }
}
