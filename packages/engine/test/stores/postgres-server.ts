import t from 'tap'
import { NO_POSTGRES, startPostgres, type TestPostgres } from '../../src/stores/testing/index.ts'

const started = NO_POSTGRES ? undefined : await startPostgres(t)

/** One PostgreSQL for all tests of this workspace, because making one is slow; for tests that do not skip. */
export function sharedPostgres(): TestPostgres {
  if (started === undefined) throw new Error(String(NO_POSTGRES))
  return started
}
