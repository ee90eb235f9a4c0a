export { type LockOptions, withLock } from './lock.ts'
export { createMemoryLimits } from './memory-limits.ts'
export { openSqliteAccounts, type SqliteAccounts } from './sqlite-accounts.ts'
