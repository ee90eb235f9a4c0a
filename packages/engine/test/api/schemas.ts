export { ErrorResponse, RateLimitResponse, UserLimitsResponse } from '../../src/api/schemas/account.ts'
export {
  AgentscanCheckRequest,
  AgentscanCheckResponse,
  CrawlerVerifyRequest,
  CrawlerVerifyResponse,
} from '../../src/api/schemas/agents.ts'
export { AsnDirectoryEntry, AsnDirectoryList, AsnDirectorySummary } from '../../src/api/schemas/directory.ts'
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
} from '../../src/api/schemas/lookup.ts'
export { ProvenanceCheckRequest, ProvenanceCheckResponse } from '../../src/api/schemas/provenance.ts'
export { AsnNetworkType, NetworkClass } from '../../src/api/schemas/words.ts'
