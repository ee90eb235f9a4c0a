/** Description of a field, and its names in the formats that rename it. */
export interface FieldRow<Value = string | number | boolean | readonly string[]> {
  /** Name in the Elastic Common Schema 8; fields that it lacks are under `sallyport`. */
  readonly ecs: string
  readonly example: Value
  readonly description: string
  readonly unit?: string
  /** Name in the semantic conventions of OpenTelemetry, if it differs. */
  readonly otel?: string
}

function row<Value>(
  ecs: string,
  example: Value,
  description: string,
  more: Pick<FieldRow, 'unit' | 'otel'> = {},
): FieldRow<Value> {
  return { ecs, example, description, ...more }
}

/** Describes each field of a line of the decision log, in the order of the line. */
export const FIELDS = {
  time: row('@timestamp', '2026-11-25T02:40:00.000Z', 'start of the request, ISO 8601 in UTC', { otel: 'timestamp' }),
  requestId: row(
    'http.request.id',
    '0197a5c4-8f3e-7c1a-9d2b-5b1f6a7c8d9e',
    'request ID, as in the response, refusal page and errors',
    { otel: 'sallyport.request_id' },
  ),
  action: row(
    'event.action',
    'block',
    'decision: allow, flag, redirect, challenge, offer, throttle or block; a challenge with `challenge: program` blocked the client',
    { otel: 'sallyport.action' },
  ),
  enforced: row('sallyport.enforced', true, 'false if monitor mode did not enforce it'),
  trial: row('sallyport.trial', 'block', 'action of a stricter dry run'),
  trialRule: row('sallyport.trial_rule', 'try-it', 'rule of that dry run'),
  rule: row('rule.id', 'no-tor', 'rule that decided', { otel: 'sallyport.rule' }),
  ban: row('sallyport.ban.id', 'q3o5yN0bXx8c', "ID of the client's ban, for `sallyport bans lift`"),
  banStrikes: row('sallyport.ban.strikes', ['2 status:404', '1 blocked'], 'strikes that caused the ban'),
  banUntil: row('sallyport.ban.until', '2026-11-25T03:40:00.000Z', 'end of the ban'),
  limitRule: row('sallyport.limit.rule', 'logins', 'rule with the tightest limit'),
  limitUsed: row('sallyport.limit.used', 17, 'position of this request in that limit', { unit: 'requests' }),
  limitMax: row('sallyport.limit.max', 20, 'requests that the limit allows', { unit: 'requests' }),
  limitWindow: row('sallyport.limit.window', 60_000, 'window of the limit; absent: requests in flight', {
    unit: 'milliseconds',
  }),
  challenge: row(
    'sallyport.challenge.outcome',
    'solved',
    '[challenge outcome](challenge.md#outcomes): asked, waiting, program, solved, waited, or the reason for no pass',
  ),
  challengeRule: row(
    'sallyport.challenge.rule',
    'ask-datacenters',
    'rule of the challenge; absent for a forged solution',
  ),
  challengeLevel: row('sallyport.challenge.level', 2, 'level of the challenge, or of the pass', { unit: '1 to 3' }),
  challengeMilliseconds: row('sallyport.challenge.duration', 412, 'time from the challenge to the accepted solution', {
    unit: 'milliseconds',
  }),
  payment: row(
    'sallyport.payment.outcome',
    'paid',
    'outcome of an offer: offered, paid, refused, bounded or unanswered',
  ),
  paymentReceipt: row('sallyport.payment.receipt', 'pay_3f9a01', 'name of the accepted payment'),
  paymentReason: row('sallyport.payment.reason', 'it was spent', 'reason for rejecting a receipt'),
  passLevel: row('sallyport.pass.level', 2, "level of the visitor's pass", { unit: '1 to 3' }),
  passAge: row('sallyport.pass.age', 300, 'age of that pass', { unit: 'seconds' }),
  class: row('sallyport.class', 'unverified_bot', 'class of the client'),
  botProbability: row('sallyport.bot_probability', 0.92, 'probability that the client is a bot, regardless of class', {
    unit: '0 to 1',
  }),
  behaviour: row(
    'sallyport.behaviour.signs',
    ['pages-without-files', 'cookies-never-returned'],
    'behaviour signs of the visit',
  ),
  behaviourPages: row('sallyport.behaviour.pages', 24, 'earlier pages in the visit', { unit: 'pages' }),
  likeness: row('sallyport.behaviour.likeness', '5f0c91b3', 'group of clients with the same behaviour'),
  networkClass: row('sallyport.network_class', 'tor', 'class of the network'),
  client: row('client.address', '185.220.101.10', 'client address, as in `log.addresses`'),
  ja4: row('tls.client.ja4', 't13d1516h2_8daaf6152771_02713d6af862', 'fingerprint of the TLS client'),
  ja4Header: row('sallyport.ja4_header', 'cf-ja4', 'proxy header with the JA4; absent: TLS ended here'),
  method: row('http.request.method', 'GET', 'request method'),
  host: row('url.domain', 'shop.example', 'requested host', { otel: 'server.address' }),
  path: row('url.path', '/login', 'path, without the query'),
  mcp: row('sallyport.mcp', ['tools/call search'], 'MCP calls (at most 20), if a rule reads them'),
  userAgent: row('user_agent.original', 'curl/8.5.0', 'user agent as sent, at most 400 characters; empty if absent'),
  status: row('http.response.status_code', 403, 'response status; 0 if the client left first', {
    unit: 'HTTP status',
  }),
  bytesReceived: row('http.request.bytes', 512, 'bytes received after the request head; over HTTP/2, body bytes', {
    unit: 'bytes',
    otel: 'http.request.size',
  }),
  bytesSent: row('http.response.bytes', 2_048, 'bytes sent; over HTTP/2, body bytes', {
    unit: 'bytes',
    otel: 'http.response.size',
  }),
  milliseconds: row('event.duration', 12.345, 'time until the response ended', {
    unit: 'milliseconds',
    otel: 'http.server.request.duration',
  }),
  inspectionMilliseconds: row('sallyport.inspection_duration', 0.021, 'time until the decision', {
    unit: 'milliseconds',
  }),
  asn: row('client.as.number', 60_729, 'autonomous system of the address', {
    unit: 'AS number',
    otel: 'sallyport.asn',
  }),
  asName: row('client.as.organization.name', 'Stiftung Erneuerbare Freiheit', 'organisation of the autonomous system', {
    otel: 'sallyport.as_name',
  }),
  country: row('client.geo.country_iso_code', 'DE', 'country of the address', { otel: 'geo.country.iso_code' }),
  region: row('client.geo.region_iso_code', 'US-TX', 'region of the address, if a rule uses regions', {
    otel: 'sallyport.region',
  }),
  regionUnknown: row('sallyport.region_unknown', 'carrier', 'reason for an unknown region'),
  crawler: row('sallyport.crawler', 'googlebot', 'crawler that the client claims to be'),
  crawlerOutcome: row(
    'sallyport.crawler_outcome',
    'spoofed',
    'outcome of the claim: verified, spoofed or unverifiable',
  ),
  operator: row('sallyport.operator', 'Google', 'operator of the crawler'),
  identity: row('sallyport.identity', 'https://chatgpt.com', 'claimed identity'),
  identityVerified: row('sallyport.identity_verified', true, 'whether the identity is verified'),
  user: row('user.id', '4711', "user from the application's `identify`"),
  plan: row('sallyport.plan', 'free', 'plan of the user'),
  event: row('sallyport.event', 'login', 'account event'),
  outcome: row('event.outcome', 'failure', 'outcome of the event', { otel: 'sallyport.outcome' }),
  identifiers: row('sallyport.identifiers', ['q3o5yN0bXx8cAbCdEfGhIj'], 'keyed hashes of the identifier and user'),
  facts: row(
    'sallyport.facts',
    ['!account.known', 'mail.alias'],
    'facts about the account and email address; `!` negates a fact',
  ),
  reasons: row('event.reason', ['policy:no-tor', 'network:tor'], 'reason IDs', { otel: 'sallyport.reasons' }),
  source: row('sallyport.source', 'operators', 'data set that decided the network class'),
  sourceDate: row('sallyport.source_date', '2026-11', 'date of the data set'),
  oldestSource: row('sallyport.oldest_source', 'asn-csv-v4', 'oldest data set behind the decision'),
  oldestDate: row('sallyport.oldest_date', '2026-06-17', 'day when the oldest data set was last confirmed'),
  degraded: row(
    'sallyport.degraded',
    ['ranges'],
    'missing data; challenge: a pass was issued while shared counts did not respond',
  ),
  answeredBy: row(
    'sallyport.answered_by',
    'refusal',
    'origin, host, api, refusal, or check (a request sent to /v1/agentscan/check)',
  ),
  refusedFor: row(
    'sallyport.refused_for',
    'queue',
    'cause of a refusal without a decision: a limit, a check, an origin',
  ),
} as const

type Values = { readonly [Field in keyof typeof FIELDS]: Readonly<(typeof FIELDS)[Field]['example']> }
type Always = 'time' | 'requestId' | 'method' | 'host' | 'path' | 'status' | 'milliseconds' | 'answeredBy'

/**
 * Describes one request in one line of the decision log. Unknown members are absent. Times are milliseconds, except `time`, which is ISO
 * 8601 in UTC; addresses have the form of `log.addresses`.
 */
export type LogLine = Pick<Values, Always> & {
  readonly [Field in Exclude<keyof Values, Always>]?: Values[Field] | undefined
}

/** Maps each field of a line to its name in the formats that rename it. */
export const FIELD_NAMES = {
  ecs: listNames(({ ecs }) => ecs),
  otel: listNames(({ ecs, otel = ecs }) => otel),
} as const

function listNames(readName: (row: FieldRow) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(FIELDS).map(([field, row]) => [field, readName(row)]))
}
