export {
  type Address,
  address4,
  address6,
  compareAddresses,
  formatAddress,
  parseAddress,
  parseAddressIn,
  previousAddress,
  sameAddress,
} from './address/address.ts'
export { buildAddressIndex, findAddress, isRepeated } from './address/address-index.ts'
export {
  type ClientTrust,
  type FrontEnds,
  parseTrust,
  type ResolvedClient,
  resolveClient,
  TRUST_PRESETS,
  type TrustedHeaders,
} from './address/client.ts'
export { FORWARDING_HEADERS, findField, isNamed } from './address/forwarding.ts'
export { createGrowingColumn, type GrowingColumn } from './address/growing-column.ts'
export {
  coverRange,
  formatHostOrPrefix,
  formatPrefix,
  hostPrefix,
  lastAddress,
  makePrefix,
  type Prefix,
  parseHostOrPrefix,
  parsePrefix,
} from './address/prefix.ts'
export { createPrefixSet } from './address/prefix-set.ts'
export { reservedRow } from './address/reserved.ts'
export { lastNotAbove } from './address/sorted-prefixes.ts'
export { buildPartition4, findSegment4, type Partition4 } from './address/table4.ts'
export { createPartition6Writer, findSegment6, type Partition6 } from './address/table6.ts'
export { BEHAVIOUR_SIGNS } from './agent/behaviour-signs.ts'
export { computeJa4 } from './agent/compute-ja4.ts'
export { createKeyDirectories } from './agent/signature/directory.ts'
export { DIRECTORY_PATH, findKeySource } from './agent/signature/key-source.ts'
export { answerDirectory, type DirectoryAnswer } from './agent/signature/own-directory.ts'
export { createReplayMemory } from './agent/signature/replay.ts'
export { readAgent } from './agent/signature/request-signer.ts'
export { readAuthority } from './agent/signature/signature-base.ts'
export { createSigner, type Signer } from './agent/signature/signer.ts'
export { currentKey, readSigningKeys, type SigningKey } from './agent/signature/signing-keys.ts'
export { createSignatureVerifier, type SignatureVerifier } from './agent/signature/verifier.ts'
export { createDirectory, type Directory, type DirectoryEntry, foldName } from './asn/directory.ts'
export type { SystemEvidence } from './asn/evidence.ts'
export type { NamedType, SystemShape } from './asn/host-likeness.ts'
export { parseAsn } from './asn/number.ts'
export { asRented, ruleOfName, type SystemType, typeByRule, typeOfSystem } from './asn/types.ts'
export { type Behaviour, createBehaviour } from './behaviour/behaviour.ts'
export { type HabitState, type KeptHabits, listHabits } from './behaviour/norms.ts'
export type { VisitEvent } from './behaviour/record-event.ts'
export { RECORD_BYTES } from './behaviour/records.ts'
export { type Challenges, createChallenges } from './challenge/challenges.ts'
export type { FormCheck } from './challenge/form-tokens.ts'
export type { ChallengeProvider, ChallengeWidget, TokenAnswer } from './challenge/provider.ts'
export { createChallengeSecrets } from './challenge/secrets.ts'
export type { AskedFor, IssuedChallenge, Redeemed } from './challenge/terms.ts'
export { counted } from './counted.ts'
export { type AnswerStatus, type Counted, type Counter, createCounter } from './counting/counter.ts'
export { type ClientKey, clientKey, WIDE_FACTOR } from './counting/keys.ts'
export { tightest } from './counting/limited.ts'
export type { Ban, BanList, Counts, CountTask, Taken } from './counting/ports.ts'
export { type CountRow, type CountState, giveBack, shareOfMax, takeStep } from './counting/step.ts'
export { banRule, isLed, type StrikesOptions, strikesText, withStrikes } from './counting/strikes.ts'
export { type CrawlerAnswer, type CrawlerAnswers, createCrawlerAnswers } from './crawler/answer.ts'
export { type Crawler, createCatalogue } from './crawler/catalogue.ts'
export type { ClaimedFrom } from './crawler/memory-checks.ts'
export { CHECK_NAMES, CHECK_STATUSES } from './crawler/outcome.ts'
export { createReverseChecks, MAX_REVERSE_CHECKS } from './crawler/reverse-checks.ts'
export { type CrawlerVerifier, createCrawlerVerifier, type Verification } from './crawler/verifier.ts'
export { DAY_MS, DURATION, formatDuration, HOUR_MS, parseDuration } from './duration.ts'
export { errorCode, errorText } from './error-text.ts'
export { type Details, ERRORS, type ErrorCode, invalidField, SallyportError } from './errors.ts'
export { countryName, isCountry } from './geo/country.ts'
export { findCountry, isByPlace } from './geo/find-country.ts'
export { locate } from './geo/locate.ts'
export type { HandoffKey, HandoffVerifyKey } from './handoff/keys.ts'
export { createHandoffSigner, HANDOFF_FIELD } from './handoff/signer.ts'
export { createHandoffVerifier, type HandoffCheck, type HandoffOptions } from './handoff/verifier.ts'
export type { DescribedRequest } from './inspection/agent-inspector.ts'
export { decide } from './inspection/decide.ts'
export { createInspector, type Inspector } from './inspection/inspector.ts'
export { createPendingCrawlers, type PendingCrawlers } from './inspection/pending-crawlers.ts'
export { strictest } from './inspection/strictest.ts'
export { countUnjudged, type UnjudgedRule, unjudgedNotes } from './inspection/unjudged.ts'
export { isRecord } from './is-record.ts'
export { withAttestation } from './jurisdiction/attested.ts'
export { createJurisdictionJudge, listFoundRegions } from './jurisdiction/judge.ts'
export { parseJurisdictionPolicy } from './jurisdiction/parse.ts'
export type { JurisdictionPolicy } from './jurisdiction/policy.ts'
export { everybodyListed } from './lists/list-guard.ts'
export { LIST_FORMATS, type ListFormat, linesOfList } from './lists/list-lines.ts'
export * from './lists/named-list.ts'
export { EVENT_FACTS, listEventFacts, parseEventFacts } from './logins/event-facts.ts'
export { type Dated, eventRisk, explainEvent, labelEventReason } from './logins/event-reasons.ts'
export { foldIdentifier, foldSpelling, type MailAddress, parseMailAddress } from './logins/mail-address.ts'
export { sightLogin } from './logins/sighting.ts'
export {
  type JudgedLogin,
  judgeLogin,
  MEMORY_DAYS,
  rememberLogin,
  type Sighting,
  type UserMemory,
} from './logins/user-memory.ts'
export { createLookup, type Lookup } from './lookup/lookup.ts'
export { asnAnswer, type LookupResult } from './lookup/result.ts'
export { formatCall, parseCalls } from './mcp/call-text.ts'
export { mayBeMcp, readMcpRequest } from './mcp/read-request.ts'
export { createNameTurns, type NameTurns, nameClient } from './name-turns.ts'
export { nearestWord, suggestion } from './nearest-word.ts'
export { lifeDays, listAge } from './network/ages.ts'
export { classify, isMixed } from './network/classify.ts'
export { compareHits } from './network/precedence.ts'
export { PRIVATE_RELAY } from './network/private-relay.ts'
export { GRADES, PURITY_VERDICTS } from './network/purity.ts'
export { createReverseNames } from './network/reverse-names.ts'
export { riskScore } from './network/risk.ts'
export { createFindings, isLost, isStale, withAge } from './network/staleness.ts'
export { dropBody, fetchBytes, fetchText } from './outbound/read-body.ts'
export { parseUrl } from './parse-url.ts'
export { createPlaces } from './places.ts'
export { countsByUser } from './policy/check/counts-by-user.ts'
export { policyFaults } from './policy/check/faults.ts'
export { flaggingRules } from './policy/check/flagging-rules.ts'
export { policyWarnings } from './policy/check/warnings.ts'
export { BAN_CHALLENGE } from './policy/compile/challenge-terms.ts'
export { type CompiledPolicy, compilePolicy, eventPolicy } from './policy/compile/compile-policy.ts'
export type { AskedParts } from './policy/language/asked.ts'
export { type LoadGauge, listsNamed, type NamedList, type Surroundings } from './policy/language/surroundings.ts'
export type { TimeSpan } from './policy/language/time-span.ts'
export type { Member } from './policy/language/values.ts'
export { pathPatternFault } from './policy/paths/path-pattern.ts'
export { foldCase, pathFault, readPath } from './policy/paths/path-readings.ts'
export { createPathTable, parsePathPattern } from './policy/paths/path-test.ts'
export { findProbe } from './policy/paths/probes.ts'
export * from './policy/policy.ts'
export type { PresetRow } from './policy/presets/preset-row.ts'
export { rulesInForce } from './policy/presets/presets.ts'
export { STOP_SCRAPERS, UNDER_ATTACK } from './policy/presets/scraper-presets.ts'
export { HTTP_VERSIONS } from './policy/words/claims.ts'
export type { MatchWord } from './policy/words/match-word.ts'
export { givenWords, MATCH_WORDS, type Match, PLAIN_WORDS } from './policy/words/match-words.ts'
export type * from './ports/index.ts'
export { currentRegion, findTwin, listHolders, listRegions, nameRegion } from './region/codes.ts'
export { locateRegion } from './region/locate-region.ts'
export { findRegion, isGateway } from './region/names.ts'
export { KeptRobots } from './robots/kept-robots.ts'
export { MAX_ROBOTS_BYTES, parseRobots, robotsText } from './robots/robots-file.ts'
export { type Robots, writeRobots } from './robots/robots-text.ts'
export * from './values/account-event.ts'
export { type AgentVerdict, BASIS_TEXTS, IDENTITY_TYPES } from './values/agent-verdict.ts'
export type { DescribedBehaviour, InspectedBehaviour } from './values/behaviour.ts'
export * from './values/challenge.ts'
export { COUNT_KEYS, COUNT_KINDS, COUNTED_ANSWERS, type CountingRule, type LimitUse } from './values/counting.ts'
export type { InspectedCountry, KnownCountry } from './values/country.ts'
export type { Attestation, Decision, Unjudged } from './values/decision.ts'
export type { NetworkFinding, Verdict } from './values/finding.ts'
export type { InspectedClient, InspectedCrawler, Inspection } from './values/inspection.ts'
export type { McpCall, McpFault, McpRequest } from './values/mcp.ts'
export type { Whole, Writable } from './values/members.ts'
export * from './values/observed.ts'
export type * from './values/offer.ts'
export type { Reason } from './values/reason.ts'
export { type InspectedRegion, type NamedRegion, type RegionDoubt, UNKNOWN_REGIONS } from './values/region.ts'
export type { InspectionRequest } from './values/request.ts'
export { classifyVisitor, VISITORS, type Visitor } from './values/visitor.ts'
export * from './vocabulary.ts'
export { parseBootstrap } from './whois/bootstrap.ts'
export { type RegistrableDomain, registrableDomain } from './whois/domain.ts'
export type { Whois, WhoisAnswer, WhoisRecord } from './whois/whois.ts'
