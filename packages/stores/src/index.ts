export { type KeyUses, recordKeyUses } from './key-uses.ts'
export { leaseCalls } from './leases.ts'
export { openCheckpointFolder } from './ledger/checkpoint-folder.ts'
export { openPostgresLedger } from './ledger/postgres-ledger.ts'
export { openSqliteLedger } from './ledger/sqlite-ledger.ts'
export { createMemoryLimits, type MemoryLimitsOptions } from './limits/memory.ts'
export { openRedisLimits, type RedisLimits } from './limits/redis.ts'
export { createSharedLimits, type SharedLimitsOptions } from './limits/shared.ts'
export { openSqliteLimits, type SqliteLimits, type SqliteLimitsOptions } from './limits/sqlite.ts'
export { type LockOptions, withFreeLock, withLock } from './lock.ts'
export { type AccountsOptions, type Opened, openAccounts, openLimits } from './open-stores.ts'
export { openPostgresAccounts } from './postgres/accounts.ts'
export { migrate } from './postgres/migrate.ts'
export {
  isUnreachable,
  openPostgres,
  type Postgres,
  type PostgresOptions,
  type PostgresQuery,
  type PostgresRow,
  type PostgresValue,
} from './postgres/pool.ts'
export { rememberKeys } from './remembered-keys.ts'
export { openSqliteAccounts, type SqliteAccounts } from './sqlite-accounts.ts'
export { openSqliteObservations, type SqliteObservations } from './sqlite-observations.ts'
export { openSqliteReverseChecks, type SqliteReverseChecks } from './sqlite-reverse-checks.ts'
