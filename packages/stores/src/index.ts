export { type KeyUses, recordKeyUses } from './accounts/key-uses.ts'
export { leaseCalls } from './accounts/leases.ts'
export { openPostgresAccounts } from './accounts/postgres-accounts.ts'
export { rememberKeys } from './accounts/remembered-keys.ts'
export { openSqliteAccounts, type SqliteAccounts } from './accounts/sqlite-accounts.ts'
export { createMemoryBans } from './bans/memory-bans.ts'
export { openRedisBans, type RedisBans } from './bans/redis-bans.ts'
export { openSqliteBans, type SqliteBans } from './bans/sqlite-bans.ts'
export { createMemoryCounts, type MemoryCountsOptions } from './counts/memory-counts.ts'
export { openRedisCounts, type RedisCounts } from './counts/redis-counts.ts'
export { createSharedCounts, type SharedCountsOptions } from './counts/shared-counts.ts'
export { openSqliteCounts, type SqliteCounts, type SqliteCountsOptions } from './counts/sqlite-counts.ts'
export { openCheckpointFolder } from './ledger/checkpoint-folder.ts'
export { openPostgresLedger } from './ledger/postgres-ledger.ts'
export { openSqliteLedger } from './ledger/sqlite-ledger.ts'
export { createMemoryLimits, type MemoryLimitsOptions } from './limits/memory-limits.ts'
export { openRedisLimits, type RedisLimits } from './limits/redis-limits.ts'
export { createSharedLimits, type SharedLimitsOptions } from './limits/shared-limits.ts'
export { openSqliteLimits, type SqliteLimits, type SqliteLimitsOptions } from './limits/sqlite-limits.ts'
export { openSqliteObservations, type SqliteObservations } from './observations/sqlite-observations.ts'
export { openSqliteReverseChecks, type SqliteReverseChecks } from './observations/sqlite-reverse-checks.ts'
export { type AccountsOptions, type Opened, openAccounts, openBans, openCounts, openLimits } from './open-stores.ts'
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
export { probeStore, type StoreProbe } from './probe.ts'
export { type LockOptions, withFreeLock, withLock } from './sqlite/lock.ts'
