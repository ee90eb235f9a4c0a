export type { LedgerTime, LedgerTools, Provenance, RotatedKey } from '#attestation'
export type { Config, ConfigInput, Reloaded } from '#config'
export {
  ConfigError,
  type ConfigFault,
  type ConfigRead,
  checkPolicyText,
  configNotices,
  configSchema,
  faultText,
  listFiles,
  listSettings,
  listVariables,
  openPolicyReader,
  type PolicyReader,
  type PolicyTest,
  parseRequest,
  policyText,
  readConfig,
  readConfigFrom,
  readPolicy,
  readPolicyTests,
  type SchemaNode,
  schemaTree,
  splitList,
} from '#config'
export { isShippedTable, type OldestList, oldestList, shippedTablesAge, type Updates } from '#datasets/service'
export { doctor, examineNamed, type Look } from '#doctor'
export { editList, type ListEdit, placedLists, showList } from '#features/lists'
export type { AccountEvent, Assessment } from '#features/logins'
export type { Payments } from '#features/payments'
export { readHours, readPeriod, readTally, type TallyHours, type TallyReports } from '#features/report'
export type { RobotsSource } from '#features/robots'
export type {
  AgentKeys,
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
  createAgentKeys,
  createOutbound,
  createRandom,
  EVENT_KINDS,
  type EventSink,
  isReadOnly,
  listAgentKeys,
  openAuditTrail,
  type RaiseEvent,
  rotateAgentKeys,
  type ServiceEvent,
} from '#service'
export { open, openSimulated } from './open.ts'
export { openAccounts, openBans, openLedgerTools, openOverrides, openUpdates } from './open-alone.ts'
export { type SitePart, writeConfigRobots } from './robots.ts'
export type { Knowledge, Sallyport } from './sallyport.ts'
export { openSinks } from './sinks.ts'
export { bundleData, readSources } from './sources.ts'
export { createTrialCounter } from './trial-counter.ts'
