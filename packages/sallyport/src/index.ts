export { type PolicyTest, type PolicyTests, readPolicy, readPolicyTests } from './config/policy-file.ts'
export { type ConfigSources, readConfig, splitList } from './config/read.ts'
export type { Config, ConfigInput } from './config/schema.ts'
export { isStale } from './feed-status.ts'
export type { NoticeCode, OpenHooks } from './hooks.ts'
export type { IssuedKey, KeyOwner, Keyring, NewAccount } from './keyring.ts'
export { type LedgerTools, openLedgerTools, type RotatedKey } from './ledger.ts'
export type { Override, Overrides } from './observations.ts'
export {
  type OpenAccounts,
  type OpenOverrides,
  open,
  openAccounts,
  openOverrides,
  openUpdates,
  type Sallyport,
} from './open.ts'
export type { Provenance } from './provenance.ts'
export type { FeedMetrics } from './refresh.ts'
export type { RolledBack, UpdateByHand, Updates } from './updates.ts'
