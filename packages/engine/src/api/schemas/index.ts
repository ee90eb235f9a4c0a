export { ErrorResponse, RateLimitResponse, UserLimitsResponse } from './account.ts'
export {
  AgentscanCheckRequest,
  AgentscanCheckResponse,
  CrawlerVerifyRequest,
  CrawlerVerifyResponse,
} from './agents.ts'
export { AsnDirectoryEntry, AsnDirectoryList, AsnDirectorySummary } from './directory.ts'
export {
  AsnResponse,
  GeolocationResponse,
  LookupRequest,
  LookupResult,
  MyIPResponse,
  ProxyResponse,
  Purity,
  ReservedRange,
  Target,
  Verdict,
  VpnResponse,
  WhoisResponse,
} from './lookup.ts'
export { ProvenanceCheckRequest, ProvenanceCheckResponse } from './provenance.ts'
export { AsnNetworkType, NetworkClass } from './words.ts'
