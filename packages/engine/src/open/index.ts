export type { Provenance, RotatedKey } from '#attestation'
export type { Config, ConfigInput, Reloaded } from '#config'
export {
  ConfigError,
  type ConfigFault,
  type ConfigRead,
  checkPolicyText,
  configNotices,
  configSchema,
  faultText,
  filesOf,
  keyTable,
  type NamedFiles,
  openPolicyReader,
  type PolicyReader,
  type PolicyTest,
  policyText,
  readConfig,
  readConfigFrom,
  readPolicy,
  readPolicyTests,
  replacePolicy,
  settingsOf,
  splitList,
  type TestedRequest,
  variableTable,
} from '#config'
export {
  isShippedTable,
  type OldestList,
  oldestList,
  shippedTablesAge,
  type UpdateByHand,
  type Updates,
} from '#datasets/service'
export { doctor, examineNamed, type Look } from '#doctor'
export { editList, type ListEdit, type PlacedList, placedLists, type ShownList, showList } from '#features/lists'
export { readHours, readPeriod, readTally, type TallyHours, type TallyReports } from '#features/report'
export type { RobotsSource } from '#features/robots'
export type {
  DecisionLog,
  Finding,
  IssuedKey,
  KeyOwner,
  Keyring,
  NewAccount,
  NoticeCode,
  OpenHooks,
  Override,
  Overrides,
  PublishedKeys,
} from '#service'
export {
  createOutbound,
  createRandom,
  EVENT_KINDS,
  type EventKind,
  type EventSink,
  isReadOnly,
  openAuditTrail,
  type RaiseEvent,
  type ServiceEvent,
} from '#service'
export { open, openSimulated } from './open.ts'
export { openAccounts, openBans, openLedgerTools, openOverrides, openUpdates } from './open-alone.ts'
export { robotsOfConfig, type SitePart } from './robots.ts'
export type { Knowledge, Sallyport } from './sallyport.ts'
export { openSinks, type Sinks } from './sinks.ts'
export { bundleData, readSources } from './sources.ts'
export { createTrialCounter } from './trial-counter.ts'
