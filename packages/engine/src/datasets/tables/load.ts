import { readColumns } from '../columns/decode.ts'
import { dayNumber } from '../format/days.ts'
import { type DecodedTables, TABLES_FORM } from '../format/tables.ts'
import { openTables } from './open-tables.ts'

/** Compiled tables, and where they are in memory. */
export type LoadedTables = ReturnType<typeof loadTables>

/**
 * Loads a compiled file: one read into shared memory, one checksum, and views on it; records become objects when they
 * are first asked for. `source` is its path, or its bytes as another thread of this process loaded or compiled them.
 * Throws `corrupt_data` naming the file for one byte too few, too many or changed, and `missing_data` when it is not
 * there.
 *
 * @example
 * ```ts
 * import { Worker } from 'node:worker_threads'
 * import { loadTables } from '@sallyport/engine'
 *
 * const { sources, shared } = loadTables(process.argv[2] ?? '')      // <dataDir>/tables-….bin
 * for (const { id, date } of sources) console.log(id, date)
 * new Worker('./worker.js', { workerData: shared })                   // there: loadTables(workerData), without a copy
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/sources.md#compiled-data
 */
export function loadTables(source: string | SharedArrayBuffer, { today = () => dayNumber(Date.now()) } = {}) {
  const tables: DecodedTables = readColumns(TABLES_FORM, source)
  return {
    ...openTables(tables, today),
    /** The bytes that all of this reads from; another thread that receives them loads them without a copy. */
    shared: tables.shared,
  }
}
