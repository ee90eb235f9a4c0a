/** How the values of several workers become one. */
export type Aggregation = 'sum' | 'max' | 'min' | 'average'

/** One metric, as the documents list it. */
export interface MetricRow {
  readonly name: `sallyport_${string}`
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  readonly unit: string
  /** A query of Prometheus. */
  readonly example: string
  /** Default: sum. */
  readonly workers?: Aggregation
}

/** Every metric of our own. Units are in the names; values of labels are bounded. */
export const METRICS = {
  decisions: {
    ...{ name: 'sallyport_decisions_total', type: 'counter' },
    labels: ['action', 'enforced', 'class', 'network_class'],
    help: 'decided requests',
    unit: 'requests',
    example: 'sum by (action) (rate(sallyport_decisions_total[5m]))',
  },
  rules: {
    ...{ name: 'sallyport_rule_matches_total', type: 'counter' },
    labels: ['rule', 'action'],
    help: 'requests that a rule decided; rules on trial that match have the action trial:…',
    unit: 'requests',
    example: 'topk(5, sum by (rule) (rate(sallyport_rule_matches_total[5m])))',
  },
  limits: {
    ...{ name: 'sallyport_limited_requests_total', type: 'counter' },
    labels: ['rule', 'outcome'],
    help: 'requests that a rule counted: within or beyond its limit',
    unit: 'requests',
    example: 'sum by (rule) (rate(sallyport_limited_requests_total{outcome="beyond"}[5m]))',
  },
  bans: {
    name: 'sallyport_bans',
    type: 'gauge',
    labels: [],
    help: 'clients that are banned now',
    workers: 'max',
    unit: 'clients',
    example: 'sallyport_bans',
  },
  refusals: {
    ...{ name: 'sallyport_refusals_total', type: 'counter' },
    labels: ['cause'],
    help: 'requests and connections refused or cut although nothing was decided against them',
    unit: 'requests, connections',
    example: 'sum by (cause) (rate(sallyport_refusals_total[5m]))',
  },
  inspection: {
    ...{ name: 'sallyport_inspection_seconds', type: 'histogram', labels: [] },
    help: 'from the head of a request until it was decided',
    unit: 'seconds',
    example: 'histogram_quantile(0.99, sum by (le) (rate(sallyport_inspection_seconds_bucket[5m])))',
  },
  requests: {
    ...{ name: 'sallyport_request_seconds', type: 'histogram' },
    labels: ['answered_by', 'status'],
    help: 'from the head of a request until its answer ended; status is 2xx to 5xx, or left',
    unit: 'seconds',
    example: 'histogram_quantile(0.99, sum by (le) (rate(sallyport_request_seconds_bucket[5m])))',
  },
  originFailures: {
    ...{ name: 'sallyport_origin_failures_total', type: 'counter' },
    labels: ['kind'],
    help: 'requests without a usable answer of the origin',
    unit: 'requests',
    example: 'sum by (kind) (rate(sallyport_origin_failures_total[5m]))',
  },
  fieldConflicts: {
    name: 'sallyport_field_conflicts_total',
    type: 'counter',
    labels: ['field'],
    help: 'fields of answers of an origin that may stand once and came with different values; the last was sent',
    unit: 'fields',
    example: 'sum by (field) (rate(sallyport_field_conflicts_total[1h])) > 0',
  },
  originUp: {
    ...{ name: 'sallyport_origin_up', type: 'gauge', workers: 'min' },
    labels: ['origin'],
    help: '1 for a server of an origin that takes requests, 0 for one that is left out',
    unit: '1 or 0',
    example: 'min by (origin) (sallyport_origin_up) == 0',
  },
  connections: {
    name: 'sallyport_connections',
    type: 'gauge',
    labels: [],
    help: 'connections of clients',
    unit: 'connections',
    example: 'sallyport_connections',
  },
  workers: {
    name: 'sallyport_workers',
    type: 'gauge',
    workers: 'max',
    labels: ['state'],
    help: 'worker processes: wanted, serving, and silent, of those that serve, for some seconds',
    unit: 'processes',
    example: 'sallyport_workers{state="silent"} > 0',
  },
  certificates: {
    ...{ name: 'sallyport_certificate_not_after_seconds', type: 'gauge', workers: 'min' },
    labels: ['file'],
    help: 'when a certificate of TLS expires, in seconds since 1970',
    unit: 'seconds since 1970',
    example: 'sallyport_certificate_not_after_seconds - time() < 14 * 86400',
  },
  inFlight: {
    ...{ name: 'sallyport_requests_in_flight', type: 'gauge' },
    labels: ['kind'],
    help: 'requests and tunnels that have a slot',
    unit: 'requests, tunnels',
    example: 'sallyport_requests_in_flight',
  },
  queued: {
    ...{ name: 'sallyport_requests_queued', type: 'gauge' },
    labels: ['queue'],
    help: 'requests that wait for a slot, or for a connection to the origin',
    unit: 'requests',
    example: 'max by (queue) (sallyport_requests_queued)',
  },
  leakedSlots: {
    name: 'sallyport_leaked_slots_total',
    type: 'counter',
    labels: [],
    help: 'slots of requests that nothing but a clock gave back after their connection had gone; any is a fault of the proxy',
    unit: 'slots',
    example: 'increase(sallyport_leaked_slots_total[1h]) > 0',
  },
  visits: {
    ...{ name: 'sallyport_visits_total', type: 'counter' },
    labels: ['known'],
    help: 'requests whose visitor was remembered, and others',
    unit: 'requests',
    example: 'sum by (known) (rate(sallyport_visits_total[5m]))',
  },
  dns: {
    ...{ name: 'sallyport_dns_questions_total', type: 'counter' },
    labels: ['kind', 'outcome'],
    help: 'questions to name servers: found, absent or failed',
    unit: 'questions',
    example: 'sum by (outcome) (rate(sallyport_dns_questions_total[5m]))',
  },
  whois: {
    ...{ name: 'sallyport_whois_questions_total', type: 'counter' },
    labels: ['outcome'],
    help: 'questions about domains, of callers: registered, free, reserved or failed',
    unit: 'questions',
    example: 'sum by (outcome) (rate(sallyport_whois_questions_total[5m]))',
  },
  sourceAge: {
    ...{ name: 'sallyport_source_age_seconds', type: 'gauge', workers: 'max' },
    labels: ['source'],
    help: 'since the data of a source was last known to be true',
    unit: 'seconds',
    example: 'topk(5, sallyport_source_age_seconds)',
  },
  oldestList: {
    ...{ name: 'sallyport_oldest_list_age_seconds', type: 'gauge', workers: 'max' },
    labels: ['source'],
    help: 'since the oldest list that verdicts rest on was last known to be true',
    unit: 'seconds',
    example: 'max(sallyport_oldest_list_age_seconds) > 7 * 86400',
  },
  sourceEntries: {
    ...{ name: 'sallyport_source_entries', type: 'gauge', workers: 'min' },
    labels: ['source'],
    help: 'entries of a loaded source',
    unit: 'entries',
    example: 'sallyport_source_entries{source="tor-bulk-exit"}',
  },
  sourceStale: {
    ...{ name: 'sallyport_source_stale', type: 'gauge', workers: 'max' },
    labels: ['source'],
    help: '1 for a loaded source that is past its age',
    unit: '1 or 0',
    example: 'sum(sallyport_source_stale)',
  },
  sourceErrors: {
    ...{ name: 'sallyport_source_error', type: 'gauge', workers: 'max' },
    labels: ['source'],
    help: '1 for a source whose last refresh failed, or that was refused',
    unit: '1 or 0',
    example: 'sallyport_source_error == 1',
  },
  ledgerUncovered: {
    ...{ name: 'sallyport_ledger_uncovered_records', type: 'gauge', labels: [], workers: 'max' },
    help: 'records that no signed checkpoint covers yet',
    unit: 'records',
    example: 'sallyport_ledger_uncovered_records > 1000',
  },
  ledgerCheckpoints: {
    ...{ name: 'sallyport_ledger_checkpoints_total', type: 'counter', labels: [] },
    help: 'checkpoints signed by this process',
    unit: 'checkpoints',
    example: 'rate(sallyport_ledger_checkpoints_total[5m])',
  },
  logLost: {
    name: 'sallyport_log_lost_lines_total',
    type: 'counter',
    labels: [],
    help: 'log lines not written',
    unit: 'lines',
    example: 'increase(sallyport_log_lost_lines_total[1h]) > 0',
  },
} as const satisfies Readonly<Record<string, MetricRow>>

export type MetricId = keyof typeof METRICS
