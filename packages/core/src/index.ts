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
  previousAddress,
  sameAddress,
} from './address/address.ts'
export type { AddressIndex } from './address/address-index.ts'
export { buildAddressIndex, findAddress, isRepeated } from './address/address-index.ts'
export type { ClientTrust, ResolvedClient } from './address/client.ts'
export { parseTrust, resolveClient, TRUST_PRESETS } from './address/client.ts'
export { FORWARDING_HEADERS } from './address/forwarding.ts'
export type { GrowingColumn } from './address/growing-column.ts'
export { createGrowingColumn } from './address/growing-column.ts'
export { parseHostname } from './address/hostname.ts'
export { parse4 } from './address/parse4.ts'
export type { Partition } from './address/partition.ts'
export { createPartition, lastNotAbove } from './address/partition.ts'
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
export { buildPartition4, findSegment4 } from './address/table4.ts'
export type { Partition6, Partition6Writer } from './address/table6.ts'
export { createPartition6Writer, findSegment6 } from './address/table6.ts'
export type { ParsedTarget, Target } from './address/target.ts'
export { parseTarget, targetOf } from './address/target.ts'
// agent
export type { KeyDirectories } from './agent/signature/directory.ts'
export { createKeyDirectories } from './agent/signature/directory.ts'
export { DIRECTORY_PATH, keySourceOf } from './agent/signature/key-source.ts'
export type { SignedRequest } from './agent/signature/message.ts'
export { createReplayMemory } from './agent/signature/replay.ts'
export { createSigner, type Signer } from './agent/signature/signer.ts'
export type { SignatureVerifier } from './agent/signature/verifier.ts'
export { createSignatureVerifier } from './agent/signature/verifier.ts'
// asn
export type {
  Directory,
  DirectoryEntry,
  DirectorySummary,
  SamplePrefix,
} from './asn/directory.ts'
export { createDirectory, foldName } from './asn/directory.ts'
export type { SystemEvidence, SystemShape } from './asn/evidence.ts'
export { typeOfEvidence } from './asn/evidence.ts'
export { parseAsn } from './asn/number.ts'
export type { SystemType } from './asn/types.ts'
export { DEFAULT_CLASS, operatorOf, typeOfSystem } from './asn/types.ts'
// crawler
export type { CrawlerAnswer, CrawlerAnswers } from './crawler/answer.ts'
export { createCrawlerAnswers } from './crawler/answer.ts'
export type { Catalogue, Crawler } from './crawler/catalogue.ts'
export { createCatalogue } from './crawler/catalogue.ts'
export type { Claim } from './crawler/claim.ts'
export type { ClaimedFrom } from './crawler/memory-checks.ts'
export type { Check, CheckName, Judgement } from './crawler/outcome.ts'
export { CHECK_NAMES, CHECK_STATUSES, judge } from './crawler/outcome.ts'
export type { LoadedRanges, RangeList } from './crawler/ranges.ts'
export { createCrawlerRanges } from './crawler/ranges.ts'
export type { ReverseChecks } from './crawler/reverse-checks.ts'
export { createReverseChecks, MAX_REVERSE_CHECKS } from './crawler/reverse-checks.ts'
export type { TokenMatcher } from './crawler/token-matcher.ts'
export { createTokenMatcher } from './crawler/token-matcher.ts'
export type { CrawlerVerifier, Verification, VerifierPorts } from './crawler/verifier.ts'
export { createCrawlerVerifier } from './crawler/verifier.ts'
// errors
export type { ErrorCode } from './errors.ts'
export { ERRORS, SallyportError } from './errors.ts'
// geo
export { countryName, isCountry } from './geo/country.ts'
export type { Geo, Located } from './geo/locate.ts'
export { locate } from './geo/locate.ts'
// inspection
export type { DescribedRequest } from './inspection/agent-inspector.ts'
export { decide } from './inspection/decide.ts'
export type { Inspector, InspectorOptions } from './inspection/inspector.ts'
export { createInspector } from './inspection/inspector.ts'
// jurisdiction
export { withAttestation } from './jurisdiction/attested.ts'
export type { FoundOrigin, JurisdictionJudge, PolicyJudgement } from './jurisdiction/judge.ts'
export { createJurisdictionJudge } from './jurisdiction/judge.ts'
export { parseJurisdictionPolicy } from './jurisdiction/parse.ts'
export type {
  JurisdictionGroup,
  JurisdictionMatch,
  JurisdictionPolicy,
  JurisdictionRule,
  Relation,
} from './jurisdiction/policy.ts'
// lookup
export type { Lookup, LookupPorts } from './lookup/lookup.ts'
export { createLookup } from './lookup/lookup.ts'
export type { AsnAnswer, GeoAnswer, LookupResult, WhoisResult } from './lookup/result.ts'
export { asnAnswer } from './lookup/result.ts'
// network
export { classify, NOTHING_KNOWN } from './network/classify.ts'
export type { Grounds } from './network/confidence.ts'
export { confidenceOf } from './network/confidence.ts'
export { createFindings } from './network/findings.ts'
export type { Ranked } from './network/precedence.ts'
export { CLASS_PRECEDENCE, classRank, compareHits } from './network/precedence.ts'
export { PRIVATE_RELAY } from './network/private-relay.ts'
export type { Deduction, Grade, Purity, PurityVerdict } from './network/purity.ts'
export { GRADES, PURITY_VERDICTS, purityOf } from './network/purity.ts'
export type { ReverseNames, ReverseNamesPorts } from './network/reverse-names.ts'
export { createReverseNames, ruleOfName } from './network/reverse-names.ts'
export { riskScore } from './network/risk.ts'
// outbound
export type { WholeAnswer } from './outbound/read-body.ts'
export { dropBody, fetchBytes, fetchText } from './outbound/read-body.ts'
// policy
export type { CompiledPolicy } from './policy/compile.ts'
export { compilePolicy } from './policy/compile.ts'
export type { CanonicalPath } from './policy/path.ts'
export { canonicalPath } from './policy/path.ts'
export type { Match, Policy, PresetName, Rule, TimeSpan } from './policy/policy.ts'
export { PRESET_NAMES } from './policy/policy.ts'
export { DAYS } from './policy/time-span.ts'
// ports
export type {
  AddressObservation,
  AutonomousSystem,
  Clock,
  CountryTable,
  CrawlerRangeStatus,
  CrawlerRanges,
  Dns,
  Fetch,
  FetchAnswer,
  FetchRequest,
  Findings,
  GeoReader,
  GeoRecord,
  KeptReverseCheck,
  NameAnswer,
  NetworkRecord,
  NetworkTable,
  Observation,
  ObservationStore,
  Observations,
  Port43,
  Port43Answer,
  Port43Question,
  RangeHit,
  ReverseAnswer,
  Snapshot,
  Snapshots,
  SourceStatus,
  SystemBasis,
  SystemTable,
} from './ports.ts'
export type { AgentBasis, AgentIdentity, AgentVerdict } from './values/agent-verdict.ts'
export { AGENT_BASES, IDENTITY_TYPES } from './values/agent-verdict.ts'
export type { Attestation, Decision } from './values/decision.ts'
export type { NetworkFinding, ReservedRange, Verdict, VerdictMethod, VerdictRule } from './values/finding.ts'
export { VERDICT_RULES } from './values/finding.ts'
export type { InspectedClient, InspectedCrawler, Inspection } from './values/inspection.ts'
export type { Reason } from './values/reason.ts'
export type { InspectionRequest } from './values/request.ts'
// vocabulary
export type {
  Action,
  AgentClass,
  AsType,
  CrawlerOutcome,
  Degraded,
  DirectoryOrder,
  Mode,
  NetworkClass,
} from './vocabulary.ts'
export {
  ACTIONS,
  AGENT_CLASSES,
  AS_TYPES,
  anonymises,
  CRAWLER_OUTCOMES,
  CRAWLER_PURPOSES,
  DEGRADABLE,
  DIRECTORY_ORDERS,
  MODES,
  NETWORK_CLASSES,
} from './vocabulary.ts'
// whois
export { parseBootstrap } from './whois/bootstrap.ts'
export type { RegistrableDomain } from './whois/domain.ts'
export { registrableDomain } from './whois/domain.ts'
export type { Whois, WhoisAnswer, WhoisRecord } from './whois/whois.ts'
