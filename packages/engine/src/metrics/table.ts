/** Describes one metric as the documents list it. */
export interface MetricRow {
  readonly name: `sallyport_${string}`
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  readonly unit: string
  /** Shows a query of Prometheus. */
  readonly example: string
  /** How values of several workers are combined. Default: `sum`. */
  readonly workers?: 'sum' | 'max' | 'min' | 'average' | undefined
}

const makeRow =
  (type: MetricRow['type']) =>
  (
    name: MetricRow['name'],
    labels: MetricRow['labels'],
    described: Omit<MetricRow, 'name' | 'type' | 'labels'>,
  ): MetricRow => ({ name, type, labels, ...described })

const counter = makeRow('counter')
const gauge = makeRow('gauge')
const histogram = makeRow('histogram')

/** Lists every metric of our own. Names contain units; values of labels are bounded. */
export const METRICS = {
  decisions: counter('sallyport_decisions_total', ['action', 'enforced', 'class', 'network_class'], {
    help: 'decided requests',
    unit: 'requests',
    example: 'sum by (action) (rate(sallyport_decisions_total[5m]))',
  }),
  rules: counter('sallyport_rule_matches_total', ['rule', 'action'], {
    help: 'requests that a rule decided, or matched in a dry run (action trial:block and others)',
    unit: 'requests',
    example: 'topk(5, sum by (rule) (rate(sallyport_rule_matches_total[5m])))',
  }),
  limits: counter('sallyport_limited_requests_total', ['rule', 'outcome'], {
    help: 'requests that a rule counted: within or beyond the limit',
    unit: 'requests',
    example: 'sum by (rule) (rate(sallyport_limited_requests_total{outcome="beyond"}[5m]))',
  }),
  challenges: counter('sallyport_challenges_total', ['rule', 'outcome', 'level', 'network_class'], {
    help: 'challenges and solutions; outcome: asked, solved and others, as in the log',
    unit: 'requests',
    example: 'sum by (rule, outcome) (rate(sallyport_challenges_total[5m]))',
  }),
  payments: counter('sallyport_payments_total', ['rule', 'outcome'], {
    help: 'requests with a price: offered, paid, refused, bounded or unanswered',
    unit: 'requests',
    example: 'sum by (rule) (rate(sallyport_payments_total{outcome="paid"}[1h]))',
  }),
  challengesAbandoned: counter('sallyport_challenges_abandoned_total', ['rule', 'level', 'network_class'], {
    help: 'challenges not solved within five minutes',
    unit: 'challenges',
    example: 'sum by (rule) (increase(sallyport_challenges_abandoned_total[1h]))',
  }),
  forms: counter('sallyport_form_tokens_total', ['form', 'outcome'], {
    help: 'verified form tokens; outcome: ok, missing and others, as in verifyField',
    unit: 'tokens',
    example: 'sum by (form, outcome) (rate(sallyport_form_tokens_total[5m]))',
  }),
  accountEvents: counter('sallyport_account_events_total', ['event', 'outcome', 'action', 'enforced'], {
    help: 'assessed account events; outcome asked: not yet known',
    unit: 'events',
    example: 'sum by (event, action) (rate(sallyport_account_events_total[5m]))',
  }),
  challengeSeconds: histogram('sallyport_challenge_seconds', ['level'], {
    help: 'time from a challenge to its accepted solution',
    unit: 'seconds',
    example: 'histogram_quantile(0.95, sum by (le, level) (rate(sallyport_challenge_seconds_bucket[1h])))',
  }),
  bans: gauge('sallyport_bans', [], {
    help: 'banned clients',
    unit: 'clients',
    example: 'sallyport_bans',
    workers: 'max',
  }),
  refusals: counter('sallyport_refusals_total', ['cause'], {
    help: 'requests and connections refused or closed without a decision',
    unit: 'requests, connections',
    example: 'sum by (cause) (rate(sallyport_refusals_total[5m]))',
  }),
  inspection: histogram('sallyport_inspection_seconds', [], {
    help: 'time from the request head to the decision',
    unit: 'seconds',
    example: 'histogram_quantile(0.99, sum by (le) (rate(sallyport_inspection_seconds_bucket[5m])))',
  }),
  requests: histogram('sallyport_request_seconds', ['answered_by', 'status'], {
    help: 'time from the request head to the end of the response; status is 2xx to 5xx, or left',
    unit: 'seconds',
    example: 'histogram_quantile(0.99, sum by (le) (rate(sallyport_request_seconds_bucket[5m])))',
  }),
  originFailures: counter('sallyport_origin_failures_total', ['kind'], {
    help: 'requests without a valid response of the origin',
    unit: 'requests',
    example: 'sum by (kind) (rate(sallyport_origin_failures_total[5m]))',
  }),
  fieldConflicts: counter('sallyport_field_conflicts_total', ['field'], {
    help: 'single-value headers that an origin sent with different values; the last value was forwarded',
    unit: 'fields',
    example: 'sum by (field) (rate(sallyport_field_conflicts_total[1h])) > 0',
  }),
  originUp: gauge('sallyport_origin_up', ['origin'], {
    help: '1 if a server of an origin is healthy, otherwise 0',
    unit: '1 or 0',
    example: 'min by (origin) (sallyport_origin_up) == 0',
    workers: 'min',
  }),
  connections: gauge('sallyport_connections', [], {
    help: 'client connections',
    unit: 'connections',
    example: 'sallyport_connections',
  }),
  workers: gauge('sallyport_workers', ['state'], {
    help: 'worker processes: wanted, serving, and silent (serving but unresponsive for some seconds)',
    unit: 'processes',
    example: 'sallyport_workers{state="silent"} > 0',
    workers: 'max',
  }),
  certificates: gauge('sallyport_certificate_not_after_seconds', ['file'], {
    help: 'expiry of a TLS certificate',
    unit: 'seconds since 1970',
    example: 'sallyport_certificate_not_after_seconds - time() < 14 * 86400',
    workers: 'min',
  }),
  reloadRefused: gauge('sallyport_reload_refused', [], {
    help: '1 while the previous configuration is in force, because the last reload was rejected',
    unit: '1 or 0',
    example: 'max(sallyport_reload_refused) == 1',
    workers: 'max',
  }),
  load: gauge('sallyport_load', ['kind'], {
    help: 'load for rules: now (1 means that a limit is reached, smoothed over seconds); on (1 while a load rule is active)',
    unit: '1 at a limit',
    example: 'max(sallyport_load{kind="now"}) > 0.8',
    workers: 'max',
  }),
  inFlight: gauge('sallyport_requests_in_flight', ['kind'], {
    help: 'requests and tunnels with a slot',
    unit: 'requests, tunnels',
    example: 'sallyport_requests_in_flight',
  }),
  queued: gauge('sallyport_requests_queued', ['queue'], {
    help: 'requests waiting for a slot or for a connection to the origin',
    unit: 'requests',
    example: 'max by (queue) (sallyport_requests_queued)',
  }),
  leakedSlots: counter('sallyport_leaked_slots_total', [], {
    help: 'slots freed by a timer after their connection had closed; any value above 0 is a bug',
    unit: 'slots',
    example: 'increase(sallyport_leaked_slots_total[1h]) > 0',
  }),
  behaviour: gauge('sallyport_behaviour_habits', ['host', 'habit'], {
    help: 'whether people of a site share a habit, so that its absence is a sign',
    unit: '0 or 1',
    example: 'sallyport_behaviour_habits == 0',
  }),
  behaviourVisits: gauge('sallyport_behaviour_visits', [], {
    help: 'visits with recorded behaviour',
    unit: 'visits',
    example: 'sallyport_behaviour_visits',
  }),
  visits: counter('sallyport_visits_total', ['known'], {
    help: 'requests of known visitors, and others',
    unit: 'requests',
    example: 'sum by (known) (rate(sallyport_visits_total[5m]))',
  }),
  dns: counter('sallyport_dns_questions_total', ['kind', 'outcome'], {
    help: 'DNS lookups: found, absent or failed',
    unit: 'questions',
    example: 'sum by (outcome) (rate(sallyport_dns_questions_total[5m]))',
  }),
  whois: counter('sallyport_whois_questions_total', ['outcome'], {
    help: 'WHOIS lookups of callers: registered, free, reserved or failed',
    unit: 'questions',
    example: 'sum by (outcome) (rate(sallyport_whois_questions_total[5m]))',
  }),
  sourceAge: gauge('sallyport_source_age_seconds', ['source'], {
    help: 'time since the publisher of a source last confirmed its data',
    unit: 'seconds',
    example: 'topk(5, sallyport_source_age_seconds)',
    workers: 'max',
  }),
  oldestList: gauge('sallyport_oldest_list_age_seconds', ['source'], {
    help: 'age of the oldest list behind verdicts',
    unit: 'seconds',
    example: 'max(sallyport_oldest_list_age_seconds) > 7 * 86400',
    workers: 'max',
  }),
  sourceEntries: gauge('sallyport_source_entries', ['source'], {
    help: 'entries of a loaded source',
    unit: 'entries',
    example: 'sallyport_source_entries{source="tor-bulk-exit"}',
    workers: 'min',
  }),
  sourceStale: gauge('sallyport_source_stale', ['source'], {
    help: '1 if a loaded source is stale',
    unit: '1 or 0',
    example: 'sum(sallyport_source_stale)',
    workers: 'max',
  }),
  sourceErrors: gauge('sallyport_source_error', ['source'], {
    help: '1 if the last refresh of a source failed or was rejected',
    unit: '1 or 0',
    example: 'sallyport_source_error == 1',
    workers: 'max',
  }),
  ledgerUncovered: gauge('sallyport_ledger_uncovered_records', [], {
    help: 'records that no signed checkpoint covers yet',
    unit: 'records',
    example: 'sallyport_ledger_uncovered_records > 1000',
    workers: 'max',
  }),
  ledgerCheckpoints: counter('sallyport_ledger_checkpoints_total', [], {
    help: 'checkpoints signed by this process',
    unit: 'checkpoints',
    example: 'rate(sallyport_ledger_checkpoints_total[5m])',
  }),
  ledgerTimestamps: counter('sallyport_ledger_timestamps_total', ['outcome'], {
    help: 'responses of timestamp authorities and witnesses: stamped, refused or failed',
    unit: 'answers',
    example: 'increase(sallyport_ledger_timestamps_total{outcome!="stamped"}[1h]) > 0',
  }),
  crawlRecords: counter('sallyport_crawl_records_total', ['outcome'], {
    help: 'crawl records: recorded, retried or lost',
    unit: 'records',
    example: 'increase(sallyport_crawl_records_total{outcome="lost"}[1h]) > 0',
  }),
  events: counter('sallyport_notifications_total', ['kind', 'outcome'], {
    help: 'notifications: left_out (suppressed repetitions), or for each webhook sent, failed or dropped',
    unit: 'notifications',
    example: 'sum by (kind) (increase(sallyport_notifications_total{outcome="failed"}[1h])) > 0',
  }),
  wrongTokens: counter('sallyport_wrong_tokens_total', [], {
    help: 'invalid tokens and used links sent to the admin listener',
    unit: 'requests',
    example: 'increase(sallyport_wrong_tokens_total[10m]) > 10',
  }),
  logLost: counter('sallyport_log_lost_lines_total', [], {
    help: 'lost log lines',
    unit: 'lines',
    example: 'increase(sallyport_log_lost_lines_total[1h]) > 0',
  }),
} as const

export type MetricId = keyof typeof METRICS
