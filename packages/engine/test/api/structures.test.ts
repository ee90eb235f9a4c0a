import t from 'tap'
import { z } from 'zod'
import * as schemas from './schemas.ts'

/** The specification's tables of fields; a `?` marks what may be left out. */
const STRUCTURES: Readonly<Record<string, string>> = {
  Target: 'raw kind ip? hostname? network? addresses?',
  ReservedRange: 'reserved label? detail?',
  Verdict: 'classification anonymized confidence method',
  Purity: 'score grade verdict deductions',
  GeolocationResponse:
    'ip country? countryCode? city? region? postalCode? latitude? longitude? timezone? accuracyRadius?',
  AsnResponse: 'ip asn? name? type country?',
  WhoisResponse: 'domain registrar? registeredOn? expiresOn? lastUpdated? nameservers status privacyProtection',
  MyIPResponse:
    'ipv4? ipv6? country? countryCode? city? region? postalCode? latitude? longitude? timezone? accuracyRadius? ' +
    'asn? asnName? asnType? asnCountry?',
  VpnResponse: 'ip isVpn isTor networkClass anonymized provider riskScore',
  ProxyResponse: 'ip isProxy isTor networkClass anonymized provider riskScore',
  LookupRequest: 'target',
  LookupResult:
    'target reserved verdict purity isVpn isProxy isTor provider riskScore networkType geo asn whois? degraded at',
  AsnDirectorySummary: 'asn label org networkType ipv4Prefixes ipv6Prefixes prefixes addresses',
  AsnDirectoryList: 'total count by? query? results',
  AsnDirectoryEntry:
    'asn label org networkType ipv4Prefixes ipv6Prefixes prefixes addresses ' +
    'samplePrefixes vpnRangePrefixes datacenterRangePrefixes rangesLoaded',
  CrawlerVerifyRequest: 'ip bot? user_agent?',
  CrawlerVerifyResponse:
    'ip slug? crawler? userAgent? outcome method? summary checks networkOrigin anonymized asn? asnName? country? ' +
    'hostname? docs? checkedAt',
  AgentscanCheckRequest: 'ip request_id? user_agent? ja4? headers? headless_flags?',
  AgentscanCheckResponse: 'class confidence action signals',
  ProvenanceCheckRequest: 'ip claimed_jurisdiction request_context?',
  ProvenanceCheckResponse: 'network_origin anonymized method confidence policy_action attestation_id',
  UserLimitsResponse: 'accountType limit usage remaining resetDate',
  ErrorResponse: 'error message details?',
  RateLimitResponse: 'error message details? retryAfter',
}

const SCHEMAS: Readonly<Record<string, z.ZodType>> = schemas

t.test('every structure has the fields of the specification, in their casing', async (t) => {
  for (const [name, fields] of Object.entries(STRUCTURES)) {
    const schema = SCHEMAS[name]
    t.ok(schema instanceof z.ZodObject, name)
    if (!(schema instanceof z.ZodObject)) continue
    const found = Object.entries(schema.shape as Record<string, z.ZodType>).map(
      ([field, type]) => field + (type.safeParse(undefined).success ? '?' : ''),
    )
    t.same(found, fields.split(' '), name)
    t.equal(schema.meta()?.['id'], name)
  }
})

t.test('the word lists are those of the specification', async (t) => {
  const networkClasses = 'residential_clean mobile hosting datacenter vpn residential_proxy tor unknown'
  t.same(schemas.NetworkClass.options, networkClasses.split(' '))
  t.same(schemas.AsnNetworkType.options, 'hosting isp mobile vpn tor education government unknown'.split(' '))
  t.same(schemas.Purity.shape.grade.options, ['S+', 'S', 'A', 'B', 'C'])
  t.same(schemas.Purity.shape.verdict.options, ['clean', 'suspect', 'dirty'])
  t.same(schemas.Target.shape.kind.options, ['ipv4', 'ipv6', 'cidr', 'hostname'])
  t.same(schemas.CrawlerVerifyResponse.shape.outcome.options, ['verified', 'spoofed', 'unverifiable'])
  t.same(schemas.AgentscanCheckResponse.shape.action.options, ['allow', 'flag', 'block'])
})

t.test('the signals of an agent verdict are always all there', async (t) => {
  const names =
    'network_origin anonymized headless headless_flags header_consistency ai_crawler ai_ident ai_vendor ' +
    'allowlist_type allowlist_verified ja4'
  const { shape } = schemas.AgentscanCheckResponse.shape.signals
  t.same(Object.keys(shape), [...names.split(' '), 'reasons'])
  for (const [name, type] of Object.entries(shape)) t.notOk(type.safeParse(undefined).success, name)
})
