export { recordKeyUses } from '../accounts/key-uses.ts'
export { leaseCalls } from '../accounts/leases.ts'
export { rememberKeys } from '../accounts/remembered-keys.ts'
export { createMemoryBans } from '../bans/memory-bans.ts'
export { createMemoryCounts } from '../counts/memory-counts.ts'
export { createSharedCounts } from '../counts/shared-counts.ts'
export { loadInstalled } from '../load-installed.ts'
export { createMemoryObservations } from '../observations/memory-observations.ts'
export { openSqliteObservations } from '../observations/sqlite-observations.ts'
export { openSqliteReverseChecks, type SqliteReverseChecks } from '../observations/sqlite-reverse-checks.ts'
export { type Opened, openAccountsAt, openBansAt, openCounts } from '../open-stores.ts'
export { type Database, findMissingSqlite, isSafeSqlite, type SqlRow, type Statement } from '../sqlite/driver.ts'
export { withFreeLock, withLock } from '../sqlite/lock.ts'
export {
  closeOnce,
  inTransaction,
  openDatabase,
  openReadOnly,
  setImpatient,
  whenFree,
} from '../sqlite/open-database.ts'
export { createTurns } from '../sqlite/turns.ts'
