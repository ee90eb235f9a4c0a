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
    description: 'what was decided: allow, flag, challenge, throttle or block',
  },
  enforced: { ecs: 'sallyport.enforced', example: true, description: 'false where monitor mode did not carry it out' },
  trial: {
    ecs: 'sallyport.trial',
    example: 'block',
    description: 'what a rule on trial would have done, where that is stricter',
  },
  trialRule: { ecs: 'sallyport.trial_rule', example: 'try-it', description: 'the id of that rule' },
  rule: { ecs: 'rule.id', otel: 'sallyport.rule', example: 'no-tor', description: 'the rule that decided' },
  limitRule: {
    ecs: 'sallyport.limit.rule',
    example: 'logins',
    description: 'the limit that left least room: its rule',
  },
  limitUsed: {
    ecs: 'sallyport.limit.used',
    example: 17,
    unit: 'requests',
    description: 'the place of this request in that limit',
  },
  limitMax: { ecs: 'sallyport.limit.max', example: 20, unit: 'requests', description: 'what fits' },
  limitWindow: {
    ecs: 'sallyport.limit.window',
    example: 60_000,
    unit: 'milliseconds',
    description: 'in how long; absent: in flight at one time',
  },
  challenge: {
    ecs: 'sallyport.challenge.outcome',
    example: 'solved',
    description:
      'its part in a [challenge](challenge.md#what-came-of-it): asked, waiting, form, program, solved, waited, or why there was no pass',
  },
  challengeRule: {
    ecs: 'sallyport.challenge.rule',
    example: 'ask-datacenters',
    description: 'the rule that asked; absent where nobody knows, as of a forged solution',
  },
  challengeLevel: {
    ecs: 'sallyport.challenge.level',
    example: 2,
    unit: '1 to 3',
    description: 'the level of that question, or of the pass',
  },
  challengeMilliseconds: {
    ecs: 'sallyport.challenge.duration',
    example: 412,
    unit: 'milliseconds',
    description: 'from the question to the answer that earned a pass; in ECS nanoseconds, in OpenTelemetry seconds',
  },
  passLevel: {
    ecs: 'sallyport.pass.level',
    example: 2,
    unit: '1 to 3',
    description: 'the level of the pass that it brought',
  },
  passAge: { ecs: 'sallyport.pass.age', example: 300, unit: 'seconds', description: 'how old that pass is' },
  class: { ecs: 'sallyport.class', example: 'unverified_bot', description: 'class of the client' },
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
    description: 'the host that was asked for',
  },
  path: { ecs: 'url.path', example: '/login', description: 'the path, without its query' },
  userAgent: {
    ecs: 'user_agent.original',
    example: 'curl/8.5.0',
    // D385
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
    description: 'until its answer ended; in ECS nanoseconds, in OpenTelemetry seconds',
  },
  inspectionMilliseconds: {
    ecs: 'sallyport.inspection_duration',
    example: 0.021,
    unit: 'milliseconds',
    description: 'until it was decided; in ECS nanoseconds, in OpenTelemetry seconds',
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
  crawler: { ecs: 'sallyport.crawler', example: 'googlebot', description: 'the crawler that it says it is' },
  crawlerOutcome: {
    ecs: 'sallyport.crawler_outcome',
    example: 'spoofed',
    description: 'what came of that: verified, spoofed or unverifiable',
  },
  operator: { ecs: 'sallyport.operator', example: 'Google', description: 'who runs that crawler' },
  identity: { ecs: 'sallyport.identity', example: 'https://chatgpt.com', description: 'who it says it is' },
  identityVerified: { ecs: 'sallyport.identity_verified', example: true, description: 'whether that is proved' },
  user: { ecs: 'user.id', example: '4711', description: 'who asks, as the application says (`identify`)' },
  plan: { ecs: 'sallyport.plan', example: 'free', description: 'the plan of that user' },
  reasons: {
    ecs: 'event.reason',
    otel: 'sallyport.reasons',
    example: ['policy:no-tor', 'network:tor'],
    description: 'ids of all that the decision rests on',
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
    description: 'why it was refused although nothing was decided against it: a limit, a check, an origin',
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
