import type { AuditLine } from './audit-line.ts'
import type { LogLine } from './line.ts'

export const LOG_FORMATS = ['plain', 'ecs', 'otel'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

type Field = keyof LogLine

/** Elastic Common Schema 8; what it has no field for is under `sallyport`. */
const ECS: Readonly<Record<Field, string>> = {
  time: '@timestamp',
  requestId: 'http.request.id',
  action: 'event.action',
  enforced: 'sallyport.enforced',
  trial: 'sallyport.trial',
  trialRule: 'sallyport.trial_rule',
  rule: 'rule.id',
  limitRule: 'sallyport.limit.rule',
  limitUsed: 'sallyport.limit.used',
  limitMax: 'sallyport.limit.max',
  limitWindow: 'sallyport.limit.window',
  class: 'sallyport.class',
  networkClass: 'sallyport.network_class',
  client: 'client.address',
  ja4: 'tls.client.ja4',
  method: 'http.request.method',
  host: 'url.domain',
  path: 'url.path',
  status: 'http.response.status_code',
  bytesReceived: 'http.request.bytes',
  bytesSent: 'http.response.bytes',
  milliseconds: 'event.duration',
  inspectionMilliseconds: 'sallyport.inspection_duration',
  asn: 'client.as.number',
  asName: 'client.as.organization.name',
  country: 'client.geo.country_iso_code',
  crawler: 'sallyport.crawler',
  crawlerOutcome: 'sallyport.crawler_outcome',
  operator: 'sallyport.operator',
  identity: 'sallyport.identity',
  identityVerified: 'sallyport.identity_verified',
  user: 'user.id',
  plan: 'sallyport.plan',
  reasons: 'event.reason',
  source: 'sallyport.source',
  sourceDate: 'sallyport.source_date',
  degraded: 'sallyport.degraded',
  answeredBy: 'sallyport.answered_by',
  refusedFor: 'sallyport.refused_for',
}

/** Semantic conventions of OpenTelemetry; what they have no attribute for is under `sallyport`. */
const OTEL: Readonly<Record<Field, string>> = {
  ...ECS,
  time: 'timestamp',
  requestId: 'sallyport.request_id',
  action: 'sallyport.action',
  rule: 'sallyport.rule',
  host: 'server.address',
  bytesReceived: 'http.request.size',
  bytesSent: 'http.response.size',
  milliseconds: 'http.server.request.duration',
  asn: 'sallyport.asn',
  asName: 'sallyport.as_name',
  country: 'geo.country.iso_code',
  reasons: 'sallyport.reasons',
}

/** Durations by format: nanoseconds in ECS, seconds in OpenTelemetry. */
const PER_MILLISECOND = { ecs: 1_000_000, otel: 0.001 } as const
const DURATIONS: ReadonlySet<string> = new Set<Field>(['milliseconds', 'inspectionMilliseconds'])

/** Each field of a line, and its name in the formats that rename it. */
export const FIELD_NAMES = { ecs: ECS, otel: OTEL } as const

const AUDIT_NAMES: Readonly<Record<'ecs' | 'otel', Readonly<Record<keyof AuditLine, string>>>> = {
  ecs: {
    time: '@timestamp',
    audit: 'event.action',
    who: 'user.name',
    error: 'error.code',
    details: 'sallyport.details',
  },
  otel: {
    time: 'timestamp',
    audit: 'sallyport.audit',
    who: 'user.name',
    error: 'error.type',
    details: 'sallyport.details',
  },
}

/** A line with the names and units of its format. */
export function renamed(line: LogLine, format: LogFormat): Readonly<Record<string, unknown>> {
  if (format === 'plain') return line as unknown as Readonly<Record<string, unknown>>
  const names = FIELD_NAMES[format]
  const unit = PER_MILLISECOND[format]
  return Object.fromEntries(
    Object.entries(line).map(([field, value]) => [
      names[field as Field],
      DURATIONS.has(field) ? Number((value * unit).toPrecision(12)) : value,
    ]),
  )
}

/** A line of the audit trail with the names of its format. */
export function renamedAudit(line: AuditLine, format: LogFormat): Readonly<Record<string, unknown>> {
  if (format === 'plain') return { ...line }
  const names = AUDIT_NAMES[format]
  return Object.fromEntries(Object.entries(line).map(([field, value]) => [names[field as keyof AuditLine], value]))
}

/** A line of the log, of either kind and in any format; `undefined` for a text that is none. */
export function readEntry(text: string): LogLine | AuditLine | undefined {
  const values = parsed(text)
  if (values === undefined) return undefined
  for (const format of LOG_FORMATS) {
    const line = format === 'plain' ? values : withPlainNames(values, FIELD_NAMES[format])
    if (isLine(line)) return line
    const audit = format === 'plain' ? values : withPlainNames(values, AUDIT_NAMES[format])
    if (isAudit(audit)) return audit
  }
  return undefined
}

/** A line about a request; `undefined` for any other. */
export function readLine(text: string): LogLine | undefined {
  const entry = readEntry(text)
  return entry !== undefined && isLine(entry) ? entry : undefined
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

function withPlainNames(
  values: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const unit = names === ECS ? PER_MILLISECOND.ecs : PER_MILLISECOND.otel
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, name]) => {
      const value = values[name]
      if (value === undefined) return []
      return [[field, DURATIONS.has(field) ? Number(value) / unit : value]]
    }),
  )
}

function isLine(values: object): values is LogLine {
  const { time, requestId, path } = values as Partial<LogLine>
  return typeof time === 'string' && typeof requestId === 'string' && typeof path === 'string'
}

function isAudit(values: object): values is AuditLine {
  const { time, audit, who } = values as Partial<AuditLine>
  return typeof time === 'string' && typeof audit === 'string' && typeof who === 'string'
}
