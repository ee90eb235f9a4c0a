export {
  isShippedTable,
  type OldestList,
  oldestList,
  shippedTablesAge,
  type UpdateByHand,
  type Updates,
} from '#datasets'
export type { IssuedKey, KeyOwner, Keyring, NewAccount } from './accounts/keyring.ts'
export type { PublishedKeys } from './agents.ts'
export { openLedgerTools, type RotatedKey } from './attestation/ledger.ts'
export type { Provenance } from './attestation/provenance.ts'
export { AUDIT_FILE, openAuditTrail } from './audit-trail.ts'
export { createRandom } from './challenge/random-bytes.ts'
export { configNotices } from './config/check.ts'
export { settingsOf } from './config/effective.ts'
export { splitList, variableTable } from './config/environment.ts'
export { ConfigError, type ConfigFault, faultText } from './config/faults.ts'
export { configSchema } from './config/json-schema.ts'
export { keyTable } from './config/key-table.ts'
export { type PolicyTest, readPolicy, readPolicyTests } from './config/policy-file.ts'
export { openPolicyReader, type PolicyReader } from './config/policy-reader.ts'
export { checkPolicyText, policyText, replacePolicy } from './config/policy-text.ts'
export { type ConfigRead, filesOf, type NamedFiles, readConfig, readConfigFrom } from './config/read.ts'
export type { Config, ConfigInput } from './config/schema.ts'
export type { Reloaded } from './config/take-over.ts'
export { createTrialCounter } from './counting.ts'
export { isReadOnly } from './data-dir.ts'
export { doctor, examineNamed, type Look } from './doctor/doctor.ts'
export type { Finding } from './doctor/finding.ts'
export type { NoticeCode, OpenHooks } from './hooks.ts'
export { editList, type ListEdit, type PlacedList, placedLists, type ShownList, showList } from './list-edit.ts'
export type { DecisionLog } from './log.ts'
export { type NotifyHooks, openNotificationsOf, testNotificationsOf } from './notifier.ts'
export { EVENT_KINDS, type EventKind, type Notifier, type ServiceEvent } from './notify/event.ts'
export type { Notifications, Tested } from './notify/notifications.ts'
export type { Override, Overrides } from './observations.ts'
export {
  type Knowledge,
  open,
  openAccounts,
  openBans,
  openOverrides,
  openSimulated,
  openUpdates,
  type Sallyport,
} from './open.ts'
export { type Erasure, eraseKnown, exportKnown, type Known } from './privacy/privacy.ts'
export { robotsOfConfig, type SitePart } from './robots.ts'
export { asksOrigins, type RobotsSource } from './site-robots.ts'
export { bundleData, readSources } from './sources.ts'
export { readPeriod, readTally, type TallyReports } from './tally.ts'
