export type { IssuedKey, KeyOwner, Keyring, NewAccount } from './accounts/keyring.ts'
export { type LedgerTools, openLedgerTools, type RotatedKey } from './attestation/ledger.ts'
export type { Provenance } from './attestation/provenance.ts'
export { type PolicyTest, type PolicyTests, readPolicy, readPolicyTests } from './config/policy-file.ts'
export { type ConfigSources, readConfig, splitList } from './config/read.ts'
export type { Config, ConfigInput } from './config/schema.ts'
export { isStale } from './data/feed-status.ts'
export type { Override, Overrides } from './data/observations.ts'
export type { FeedMetrics } from './data/refresh.ts'
export type { RolledBack, UpdateByHand, Updates } from './data/updates.ts'
export type { NoticeCode, OpenHooks } from './hooks.ts'
export {
  type OpenAccounts,
  type OpenOverrides,
  open,
  openAccounts,
  openOverrides,
  openUpdates,
  type Sallyport,
} from './open.ts'
