// address
export type { Address } from './address/address.ts'
export {
  address4,
  address6,
  compareAddresses,
  formatAddress,
  nextAddress,
  parseAddress,
  parseAddressIn,
  sameAddress,
} from './address/address.ts'
export type { ClientTrust, ResolvedClient } from './address/client.ts'
export { parseTrust, resolveClient, TRUST_PRESETS } from './address/client.ts'
export { FORWARDING_HEADERS } from './address/forwarding.ts'
export { parseHostname } from './address/hostname.ts'
export { parse4 } from './address/parse4.ts'
export type { Partition } from './address/partition.ts'
export { createPartition } from './address/partition.ts'
export type { Prefix } from './address/prefix.ts'
export {
  coverRange,
  firstAddress,
  formatPrefix,
  lastAddress,
  parsePrefix,
  prefixContains,
  prefixOf,
} from './address/prefix.ts'
export type { PrefixSet } from './address/prefix-set.ts'
export { createPrefixSet } from './address/prefix-set.ts'
export type { ReservedRow } from './address/reserved.ts'
export { reservedRow } from './address/reserved.ts'
export type { Partition4 } from './address/table4.ts'
export { directIndex4, findSegment4 } from './address/table4.ts'
export type { BuiltPartition6, Partition6 } from './address/table6.ts'
export { buildPartition6, findSegment6 } from './address/table6.ts'
export type { ParsedTarget, Target } from './address/target.ts'
export { parseTarget, targetOf } from './address/target.ts'
// asn
export type {
  Directory,
  DirectoryEntry,
  DirectoryOrder,
  DirectorySummary,
  SamplePrefix,
} from './asn/directory.ts'
export { createDirectory, DIRECTORY_ORDERS } from './asn/directory.ts'
export { parseAsn } from './asn/number.ts'
export type { SystemType } from './asn/types.ts'
export { DEFAULT_CLASS, operatorOf, typeOfSystem } from './asn/types.ts'
// errors
export type { ErrorCode } from './errors.ts'
export { ERRORS, SallyportError } from './errors.ts'
// geo
export { countryName, isCountryCode } from './geo/country.ts'
export type { Geo, Located } from './geo/locate.ts'
export { locate } from './geo/locate.ts'
// inspection
export { decide } from './inspection/decide.ts'
export type { Decision, Reason } from './inspection/decision.ts'
export type { InspectedClient, Inspection } from './inspection/inspection.ts'
export type { Inspector, InspectorOptions } from './inspection/inspector.ts'
export { createInspector } from './inspection/inspector.ts'
export type { InspectionRequest } from './inspection/request.ts'
// lookup
export type { Lookup, LookupPorts } from './lookup/lookup.ts'
export { createLookup } from './lookup/lookup.ts'
export type { AsnAnswer, GeoAnswer, LookupResult } from './lookup/result.ts'
export { asnAnswer } from './lookup/result.ts'
// network
export { CLASS_PRECEDENCE, classify, classRank } from './network/classify.ts'
export type { NetworkFinding, ReservedRange, Verdict, VerdictMethod } from './network/finding.ts'
export type { Deduction, Grade, Purity, PurityVerdict } from './network/purity.ts'
export { GRADES, PURITY_VERDICTS, purityOf } from './network/purity.ts'
export { riskScore } from './network/risk.ts'
// policy
export type { CompiledPolicy, MatchedRule } from './policy/compile.ts'
export { compilePolicy } from './policy/compile.ts'
export type { CanonicalPath } from './policy/path.ts'
export { canonicalPath } from './policy/path.ts'
export type { Match, Policy, PresetName, Rule } from './policy/policy.ts'
export { PRESET_NAMES } from './policy/policy.ts'
// ports
export type {
  AutonomousSystem,
  Clock,
  CountryTable,
  Dns,
  GeoReader,
  GeoRecord,
  NameAnswer,
  NetworkRecord,
  NetworkTable,
  RangeHit,
  Snapshot,
  Snapshots,
  SourceStatus,
  SystemTable,
} from './ports.ts'
// vocabulary
export type { Action, AsType, Degraded, Mode, NetworkClass } from './vocabulary.ts'
export { ACTIONS, AS_TYPES, anonymises, DEGRADABLE, MODES, NETWORK_CLASSES } from './vocabulary.ts'
