export type { IssuedKey, KeyOwner, Keyring, NewAccount } from './accounts/keyring.ts'
export { type LedgerTools, openLedgerTools, type RotatedKey } from './attestation/ledger.ts'
export type { Provenance } from './attestation/provenance.ts'
export { type AuditTrail, openAuditTrail } from './audit-trail.ts'
export { type Setting, settingsOf } from './config/effective.ts'
export { splitList } from './config/environment.ts'
export { ConfigError, type ConfigFault, faultText } from './config/faults.ts'
export { configSchema } from './config/json-schema.ts'
export type { Place } from './config/layers.ts'
export { type PolicyTest, type PolicyTests, readPolicy, readPolicyTests } from './config/policy-file.ts'
export { checkPolicyText, type PolicyText, policyText, replacePolicy } from './config/policy-text.ts'
export { type ConfigRead, type ConfigSources, readConfig, readConfigFrom } from './config/read.ts'
export type { Config, ConfigInput } from './config/schema.ts'
export { createTrialCounter } from './counting.ts'
export { isReadOnly } from './data/data-dir.ts'
export type { Override, Overrides } from './data/observations.ts'
export { type OldestList, oldestList } from './data/oldest-list.ts'
export type { FeedMetrics } from './data/refresh.ts'
export type { RolledBack, UpdateByHand, Updates } from './data/updates.ts'
export { type DoctorHooks, doctor } from './doctor/doctor.ts'
export type { Finding } from './doctor/finding.ts'
export type { NoticeCode, OpenHooks } from './hooks.ts'
export type { DecisionLog } from './log.ts'
export {
  type Knowledge,
  type OpenAccounts,
  type OpenBans,
  type OpenOverrides,
  open,
  openAccounts,
  openBans,
  openOverrides,
  openUpdates,
  type Sallyport,
} from './open.ts'
export type { DeciderOptions, Deciders, Reloaded } from './reload.ts'
export { robotsOfConfig, type SitePart } from './robots.ts'
export { readSources, type SourcesHooks } from './sources.ts'
