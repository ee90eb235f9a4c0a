/** Description of a field, and its names in the formats that rename it. */
export interface FieldRow {
  readonly description: string
  readonly example: string | number | boolean | readonly string[]
  readonly unit?: string | undefined
  /** Name in the Elastic Common Schema 8; fields that it lacks are under `sallyport`. */
  readonly ecs: string
  /** Name in the semantic conventions of OpenTelemetry, if it differs. */
  readonly otel?: string | undefined
}

/** Describes each field of a line of the decision log, in the order of the line. */
export const FIELDS = {
  time: {
    ecs: '@timestamp',
    otel: 'timestamp',
    example: '2026-11-25T02:40:00.000Z',
    description: 'start of the request, ISO 8601 in UTC',
  },
  requestId: {
    ecs: 'http.request.id',
    otel: 'sallyport.request_id',
    example: '0197a5c4-8f3e-7c1a-9d2b-5b1f6a7c8d9e',
    description: 'request ID, as in the response, refusal page and errors',
  },
  action: {
    ecs: 'event.action',
    otel: 'sallyport.action',
    example: 'block',
    description:
      'decision: allow, flag, redirect, challenge, offer, throttle or block; a challenge with `challenge: program` blocked the client',
  },
  enforced: { ecs: 'sallyport.enforced', example: true, description: 'false if monitor mode did not enforce it' },
  trial: { ecs: 'sallyport.trial', example: 'block', description: 'action of a stricter dry run' },
  trialRule: { ecs: 'sallyport.trial_rule', example: 'try-it', description: 'rule of that dry run' },
  rule: { ecs: 'rule.id', otel: 'sallyport.rule', example: 'no-tor', description: 'rule that decided' },
  ban: {
    ecs: 'sallyport.ban.id',
    example: 'q3o5yN0bXx8c',
    description: "ID of the client's ban, for `sallyport bans lift`",
  },
  banStrikes: {
    ecs: 'sallyport.ban.strikes',
    example: ['2 status:404', '1 blocked'],
    description: 'strikes that caused the ban',
  },
  banUntil: { ecs: 'sallyport.ban.until', example: '2026-11-25T03:40:00.000Z', description: 'end of the ban' },
  limitRule: { ecs: 'sallyport.limit.rule', example: 'logins', description: 'rule with the tightest limit' },
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
      '[challenge outcome](challenge.md#outcomes): asked, waiting, program, solved, waited, or the reason for no pass',
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
    description: 'time from the challenge to the accepted solution',
  },
  payment: {
    ecs: 'sallyport.payment.outcome',
    example: 'paid',
    description: 'outcome of an offer: offered, paid, refused, bounded or unanswered',
  },
  paymentReceipt: {
    ecs: 'sallyport.payment.receipt',
    example: 'pay_3f9a01',
    description: 'name of the accepted payment',
  },
  paymentReason: {
    ecs: 'sallyport.payment.reason',
    example: 'it was spent',
    description: 'reason for rejecting a receipt',
  },
  passLevel: {
    ecs: 'sallyport.pass.level',
    example: 2,
    unit: '1 to 3',
    description: "level of the visitor's pass",
  },
  passAge: { ecs: 'sallyport.pass.age', example: 300, unit: 'seconds', description: 'age of that pass' },
  class: { ecs: 'sallyport.class', example: 'unverified_bot', description: 'class of the client' },
  botProbability: {
    ecs: 'sallyport.bot_probability',
    example: 0.92,
    unit: '0 to 1',
    description: 'probability that the client is a bot, regardless of class',
  },
  behaviour: {
    ecs: 'sallyport.behaviour.signs',
    example: ['pages-without-files', 'cookies-never-returned'],
    description: 'behaviour signs of the visit',
  },
  behaviourPages: {
    ecs: 'sallyport.behaviour.pages',
    example: 24,
    unit: 'pages',
    description: 'earlier pages in the visit',
  },
  likeness: {
    ecs: 'sallyport.behaviour.likeness',
    example: '5f0c91b3',
    description: 'group of clients with the same behaviour',
  },
  networkClass: { ecs: 'sallyport.network_class', example: 'tor', description: 'class of the network' },
  client: { ecs: 'client.address', example: '185.220.101.10', description: 'client address, as in `log.addresses`' },
  ja4: {
    ecs: 'tls.client.ja4',
    example: 't13d1516h2_8daaf6152771_02713d6af862',
    description: 'fingerprint of the TLS client',
  },
  ja4Header: {
    ecs: 'sallyport.ja4_header',
    example: 'cf-ja4',
    description: 'proxy header with the JA4; absent: TLS ended here',
  },
  method: { ecs: 'http.request.method', example: 'GET', description: 'request method' },
  host: {
    ecs: 'url.domain',
    otel: 'server.address',
    example: 'shop.example',
    description: 'requested host',
  },
  path: { ecs: 'url.path', example: '/login', description: 'path, without the query' },
  mcp: {
    ecs: 'sallyport.mcp',
    example: ['tools/call search'],
    description: 'MCP calls (at most 20), if a rule reads them',
  },
  userAgent: {
    ecs: 'user_agent.original',
    example: 'curl/8.5.0',
    description: 'user agent as sent, at most 400 characters; empty if absent',
  },
  status: {
    ecs: 'http.response.status_code',
    example: 403,
    unit: 'HTTP status',
    description: 'response status; 0 if the client left first',
  },
  bytesReceived: {
    ecs: 'http.request.bytes',
    otel: 'http.request.size',
    example: 512,
    unit: 'bytes',
    description: 'bytes received after the request head; over HTTP/2, body bytes',
  },
  bytesSent: {
    ecs: 'http.response.bytes',
    otel: 'http.response.size',
    example: 2_048,
    unit: 'bytes',
    description: 'bytes sent; over HTTP/2, body bytes',
  },
  milliseconds: {
    ecs: 'event.duration',
    otel: 'http.server.request.duration',
    example: 12.345,
    unit: 'milliseconds',
    description: 'time until the response ended',
  },
  inspectionMilliseconds: {
    ecs: 'sallyport.inspection_duration',
    example: 0.021,
    unit: 'milliseconds',
    description: 'time until the decision',
  },
  asn: {
    ecs: 'client.as.number',
    otel: 'sallyport.asn',
    example: 60_729,
    unit: 'AS number',
    description: 'autonomous system of the address',
  },
  asName: {
    ecs: 'client.as.organization.name',
    otel: 'sallyport.as_name',
    example: 'Stiftung Erneuerbare Freiheit',
    description: 'organisation of the autonomous system',
  },
  country: {
    ecs: 'client.geo.country_iso_code',
    otel: 'geo.country.iso_code',
    example: 'DE',
    description: 'country of the address',
  },
  region: {
    ecs: 'client.geo.region_iso_code',
    otel: 'sallyport.region',
    example: 'US-TX',
    description: 'region of the address, if a rule uses regions',
  },
  regionUnknown: { ecs: 'sallyport.region_unknown', example: 'carrier', description: 'reason for an unknown region' },
  crawler: { ecs: 'sallyport.crawler', example: 'googlebot', description: 'crawler that the client claims to be' },
  crawlerOutcome: {
    ecs: 'sallyport.crawler_outcome',
    example: 'spoofed',
    description: 'outcome of the claim: verified, spoofed or unverifiable',
  },
  operator: { ecs: 'sallyport.operator', example: 'Google', description: 'operator of the crawler' },
  identity: { ecs: 'sallyport.identity', example: 'https://chatgpt.com', description: 'claimed identity' },
  identityVerified: {
    ecs: 'sallyport.identity_verified',
    example: true,
    description: 'whether the identity is verified',
  },
  user: { ecs: 'user.id', example: '4711', description: "user from the application's `identify`" },
  plan: { ecs: 'sallyport.plan', example: 'free', description: 'plan of the user' },
  event: { ecs: 'sallyport.event', example: 'login', description: 'account event' },
  outcome: { ecs: 'event.outcome', otel: 'sallyport.outcome', example: 'failure', description: 'outcome of the event' },
  identifiers: {
    ecs: 'sallyport.identifiers',
    example: ['q3o5yN0bXx8cAbCdEfGhIj'],
    description: 'keyed hashes of the identifier and user',
  },
  facts: {
    ecs: 'sallyport.facts',
    example: ['!account.known', 'mail.alias'],
    description: 'facts about the account and email address; `!` negates a fact',
  },
  reasons: {
    ecs: 'event.reason',
    otel: 'sallyport.reasons',
    example: ['policy:no-tor', 'network:tor'],
    description: 'reason IDs',
  },
  source: { ecs: 'sallyport.source', example: 'operators', description: 'data set that decided the network class' },
  sourceDate: { ecs: 'sallyport.source_date', example: '2026-11', description: 'date of the data set' },
  oldestSource: {
    ecs: 'sallyport.oldest_source',
    example: 'asn-csv-v4',
    description: 'oldest data set behind the decision',
  },
  oldestDate: {
    ecs: 'sallyport.oldest_date',
    example: '2026-06-17',
    description: 'day when the oldest data set was last confirmed',
  },
  degraded: {
    ecs: 'sallyport.degraded',
    example: ['ranges'],
    description: 'missing data; challenge: a pass was issued while shared counts did not respond',
  },
  answeredBy: {
    ecs: 'sallyport.answered_by',
    example: 'refusal',
    description: 'origin, host, api, refusal, or check (a request sent to /v1/agentscan/check)',
  },
  refusedFor: {
    ecs: 'sallyport.refused_for',
    example: 'queue',
    description: 'cause of a refusal without a decision: a limit, a check, an origin',
  },
} as const satisfies Readonly<Record<string, FieldRow>>

type Widened<Example> = Example extends string
  ? string
  : Example extends number
    ? number
    : Example extends boolean
      ? boolean
      : readonly string[]
type Values = { readonly [Field in keyof typeof FIELDS]: Widened<(typeof FIELDS)[Field]['example']> }
type Always = 'time' | 'requestId' | 'method' | 'host' | 'path' | 'status' | 'milliseconds' | 'answeredBy'

/**
 * Describes one request in one line of the decision log. Unknown members are absent. Times are milliseconds, except `time`, which is ISO
 * 8601 in UTC; addresses have the form of `log.addresses`.
 */
export type LogLine = Pick<Values, Always> & {
  readonly [Field in Exclude<keyof Values, Always>]?: Values[Field] | undefined
}

const ROWS: Readonly<Record<keyof LogLine, FieldRow>> = FIELDS

/** Maps each field of a line to its name in the formats that rename it. */
export const FIELD_NAMES = {
  ecs: namesBy(({ ecs }) => ecs),
  otel: namesBy(({ ecs, otel = ecs }) => otel),
} as const

function namesBy(nameOf: (row: FieldRow) => string): Readonly<Record<keyof LogLine, string>> {
  return Object.fromEntries(Object.entries(ROWS).map(([field, row]) => [field, nameOf(row)])) as unknown as Readonly<
    Record<keyof LogLine, string>
  >
}
