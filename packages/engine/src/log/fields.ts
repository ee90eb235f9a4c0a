import type { LogLine } from './line.ts'

/** Description of a field, and its names in the formats that rename it. */
export interface FieldRow {
  readonly description: string
  readonly example: string | number | boolean | readonly string[]
  /** Unit of a number. */
  readonly unit?: string | undefined
  /** Elastic Common Schema 8; what it has no field for is under `sallyport`. */
  readonly ecs: string
  /** Semantic conventions of OpenTelemetry, where its name is another. */
  readonly otel?: string | undefined
}

/** Each field of a line of the decision log, in its order there. */
export const FIELDS = {
  time: {
    ecs: '@timestamp',
    otel: 'timestamp',
    example: '2026-11-25T02:40:00.000Z',
    description: 'when the request began, ISO 8601 in UTC',
  },
  requestId: {
    ecs: 'http.request.id',
    otel: 'sallyport.request_id',
    example: '0197a5c4-8f3e-7c1a-9d2b-5b1f6a7c8d9e',
    description: 'the id of its answer, of its refusal page and of its errors',
  },
  action: {
    ecs: 'event.action',
    otel: 'sallyport.action',
    example: 'block',
    description:
      'the decision: allow, flag, redirect, challenge, throttle or block; a challenge with `challenge: program` refused its client',
  },
  enforced: { ecs: 'sallyport.enforced', example: true, description: 'false where monitor mode did not carry it out' },
  trial: {
    ecs: 'sallyport.trial',
    example: 'block',
    description: 'action of a stricter rule on trial',
  },
  trialRule: { ecs: 'sallyport.trial_rule', example: 'try-it', description: 'the id of that rule' },
  rule: { ecs: 'rule.id', otel: 'sallyport.rule', example: 'no-tor', description: 'the rule that decided' },
  ban: {
    ecs: 'sallyport.ban.id',
    example: 'q3o5yN0bXx8c',
    description: 'the ban of its client, for `sallyport bans lift`',
  },
  banStrikes: {
    ecs: 'sallyport.ban.strikes',
    example: ['2 status:404', '1 blocked'],
    description: 'the strikes of that ban',
  },
  banUntil: { ecs: 'sallyport.ban.until', example: '2026-11-25T03:40:00.000Z', description: 'the end of that ban' },
  limitRule: {
    ecs: 'sallyport.limit.rule',
    example: 'logins',
    description: 'rule of the tightest limit',
  },
  limitUsed: {
    ecs: 'sallyport.limit.used',
    example: 17,
    unit: 'requests',
    description: 'position of this request in that limit',
  },
  limitMax: {
    ecs: 'sallyport.limit.max',
    example: 20,
    unit: 'requests',
    description: 'requests that the limit allows',
  },
  limitWindow: {
    ecs: 'sallyport.limit.window',
    example: 60_000,
    unit: 'milliseconds',
    description: 'window of the limit; absent: requests in flight',
  },
  challenge: {
    ecs: 'sallyport.challenge.outcome',
    example: 'solved',
    description:
      'its part in a [challenge](challenge.md#what-came-of-it): asked, waiting, program, solved, waited, or the reason for no pass',
  },
  challengeRule: {
    ecs: 'sallyport.challenge.rule',
    example: 'ask-datacenters',
    description: 'rule of the challenge; absent for a forged solution',
  },
  challengeLevel: {
    ecs: 'sallyport.challenge.level',
    example: 2,
    unit: '1 to 3',
    description: 'level of the challenge, or of the pass',
  },
  challengeMilliseconds: {
    ecs: 'sallyport.challenge.duration',
    example: 412,
    unit: 'milliseconds',
    description: 'from the challenge to the solution that earned a pass',
  },
  passLevel: {
    ecs: 'sallyport.pass.level',
    example: 2,
    unit: '1 to 3',
    description: 'level of its pass',
  },
  passAge: { ecs: 'sallyport.pass.age', example: 300, unit: 'seconds', description: 'age of that pass' },
  class: { ecs: 'sallyport.class', example: 'unverified_bot', description: 'class of the client' },
  botProbability: {
    ecs: 'sallyport.bot_probability',
    example: 0.92,
    unit: '0 to 1',
    description: 'the probability that the client is a program, whatever its class',
  },
  networkClass: { ecs: 'sallyport.network_class', example: 'tor', description: 'class of its network' },
  client: { ecs: 'client.address', example: '185.220.101.10', description: 'its address, as `log.addresses` has it' },
  ja4: {
    ecs: 'tls.client.ja4',
    example: 't13d1516h2_8daaf6152771_02713d6af862',
    description: 'the fingerprint of its TLS hello',
  },
  method: { ecs: 'http.request.method', example: 'GET', description: 'the method' },
  host: {
    ecs: 'url.domain',
    otel: 'server.address',
    example: 'shop.example',
    description: 'the requested host',
  },
  path: { ecs: 'url.path', example: '/login', description: 'the path, without its query' },
  userAgent: {
    ecs: 'user_agent.original',
    example: 'curl/8.5.0',
    description: 'as it was sent, 400 characters at most; empty where there was none',
  },
  status: {
    ecs: 'http.response.status_code',
    example: 403,
    unit: 'HTTP status',
    description: 'of the answer; 0 where the client left first',
  },
  bytesReceived: {
    ecs: 'http.request.bytes',
    otel: 'http.request.size',
    example: 512,
    unit: 'bytes',
    description: 'on its connection, after the head of the request; over HTTP/2 those of the body',
  },
  bytesSent: {
    ecs: 'http.response.bytes',
    otel: 'http.response.size',
    example: 2_048,
    unit: 'bytes',
    description: 'on its connection; over HTTP/2 those of the body',
  },
  milliseconds: {
    ecs: 'event.duration',
    otel: 'http.server.request.duration',
    example: 12.345,
    unit: 'milliseconds',
    description: 'until its answer ended',
  },
  inspectionMilliseconds: {
    ecs: 'sallyport.inspection_duration',
    example: 0.021,
    unit: 'milliseconds',
    description: 'until it was decided',
  },
  asn: {
    ecs: 'client.as.number',
    otel: 'sallyport.asn',
    example: 60_729,
    unit: 'AS number',
    description: 'the autonomous system of the address',
  },
  asName: {
    ecs: 'client.as.organization.name',
    otel: 'sallyport.as_name',
    example: 'Stiftung Erneuerbare Freiheit',
    description: 'its organisation',
  },
  country: {
    ecs: 'client.geo.country_iso_code',
    otel: 'geo.country.iso_code',
    example: 'DE',
    description: 'of the address',
  },
  crawler: { ecs: 'sallyport.crawler', example: 'googlebot', description: 'the crawler that it claims to be' },
  crawlerOutcome: {
    ecs: 'sallyport.crawler_outcome',
    example: 'spoofed',
    description: 'outcome of that claim: verified, spoofed or unverifiable',
  },
  operator: { ecs: 'sallyport.operator', example: 'Google', description: 'operator of that crawler' },
  identity: { ecs: 'sallyport.identity', example: 'https://chatgpt.com', description: 'the identity that it claims' },
  identityVerified: {
    ecs: 'sallyport.identity_verified',
    example: true,
    description: 'whether that identity is proven',
  },
  user: { ecs: 'user.id', example: '4711', description: 'the user, as the application names it (`identify`)' },
  plan: { ecs: 'sallyport.plan', example: 'free', description: 'the plan of that user' },
  reasons: {
    ecs: 'event.reason',
    otel: 'sallyport.reasons',
    example: ['policy:no-tor', 'network:tor'],
    description: 'ids of the reasons',
  },
  source: { ecs: 'sallyport.source', example: 'operators', description: 'the data set that decided the network class' },
  sourceDate: { ecs: 'sallyport.source_date', example: '2026-11', description: 'its date' },
  degraded: {
    ecs: 'sallyport.degraded',
    example: ['ranges'],
    description:
      'data that is missing or out of date; challenge: a pass was given while the shared counts did not answer',
  },
  answeredBy: {
    ecs: 'sallyport.answered_by',
    example: 'refusal',
    description: 'origin, host, api or refusal; check: a request described to /v1/agentscan/check',
  },
  refusedFor: {
    ecs: 'sallyport.refused_for',
    example: 'queue',
    description: 'cause of a refusal without a decision: a limit, a check, an origin',
  },
} as const satisfies Readonly<Record<keyof LogLine, FieldRow>>

const ROWS: Readonly<Record<keyof LogLine, FieldRow>> = FIELDS

/** Each field of a line, and its name in the formats that rename it. */
export const FIELD_NAMES = {
  ecs: namesBy(({ ecs }) => ecs),
  otel: namesBy(({ ecs, otel = ecs }) => otel),
} as const

function namesBy(nameOf: (row: FieldRow) => string): Readonly<Record<keyof LogLine, string>> {
  return Object.fromEntries(Object.entries(ROWS).map(([field, row]) => [field, nameOf(row)])) as unknown as Readonly<
    Record<keyof LogLine, string>
  >
}
