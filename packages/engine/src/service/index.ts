export { createKeyring, type IssuedKey, type KeyOwner, type Keyring, type NewAccount } from './accounts/keyring.ts'
export { openAccountStore, openStores, unreachable } from './accounts/stores.ts'
export {
  AGENT_KEYS,
  type AgentKeys,
  createAgentKeys,
  createDirectoryFinder,
  type FindDirectory,
  listAgentKeys,
  rotateAgentKeys,
} from './agent-keys.ts'
export { openAgents, type PublishedKeys } from './agents.ts'
export { openAuditTrail } from './audit-trail.ts'
export { openChallenges } from './challenge/open-challenges.ts'
export { createRandom } from './challenge/random-bytes.ts'
export {
  createFieldVerifier,
  type FormRequest,
  type VerifyField,
  type VerifyFieldOptions,
} from './challenge/verify-field.ts'
export { bansUrl, callCountsUrl, createCounting, liftBan, openBanList } from './counting.ts'
export { openCrawlers } from './crawlers.ts'
export { DATA_LOCK, inDataDir, isReadOnly } from './data-dir.ts'
export { createDisposeStack, type DisposeStack } from './dispose-stack.ts'
export { EVENT_KINDS, type EventKind, type EventSink, type RaiseEvent, type ServiceEvent } from './event.ts'
export type { Feature, FeatureConfig, OpenedSink, SinkOutcome, SinkPorts } from './feature.ts'
export { type CheckResult, describeReason, type Finding, fail, failNow, ok, warn } from './finding.ts'
export { guarded, type NoticeCode, type OpenHooks, SINK_NOTICE, sayOnStderr, saysCompiling } from './hooks.ts'
export { type Keeping, readKeeping } from './kept-config.ts'
export { CHECKPOINTS, LEDGER_FILE, opensAtStart } from './ledger-files.ts'
export type { LoadMeter, OnTurned } from './load/load-meter.ts'
export { type MeasuredLoad, measureLoad } from './load/measured-load.ts'
export { type DecisionLog, type LogHolder, openLog, type Prepared } from './log.ts'
export { createOverrides, type Override, type Overrides, openObservations } from './observations.ts'
export { createOutbound, findProxy, type Outbound } from './outbound.ts'
export { type SourcesHooks, withData } from './read-data.ts'
export { PLACES, type RefusalPage, readRefusalPage, unknownPlaces } from './refusal-page.ts'
export { requireSecret, secretFault } from './required-secret.ts'
export { shortList } from './short-list.ts'
export { openWhois } from './whois.ts'
export { dnsWithTimeout, whoisWithTimeout, withTimeout } from './with-timeout.ts'
