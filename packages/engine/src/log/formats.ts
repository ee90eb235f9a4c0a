import type { AuditLine } from './audit-line.ts'
import { FIELD_NAMES, type LogLine } from './fields.ts'

export const LOG_FORMATS = ['plain', 'ecs', 'otel'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

type Field = keyof LogLine

/** Durations are nanoseconds in ECS and seconds in OpenTelemetry. */
const PER_MILLISECOND = { ecs: 1_000_000, otel: 0.001 } as const
const DURATIONS: ReadonlySet<string> = new Set<Field>([
  'milliseconds',
  'inspectionMilliseconds',
  'challengeMilliseconds',
])

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

/** Writes a line with the names and units of its format. */
export function renamed(line: LogLine, format: LogFormat): Readonly<Record<string, unknown>> {
  if (format === 'plain') return line as unknown as Readonly<Record<string, unknown>>
  const names = FIELD_NAMES[format]
  const unit = PER_MILLISECOND[format]
  return Object.fromEntries(
    Object.entries(line).map(([field, value]) => [
      names[field as Field],
      DURATIONS.has(field) && value !== undefined ? Number((Number(value) * unit).toPrecision(12)) : value,
    ]),
  )
}

/** Writes a line of the audit trail with the names of its format. */
export function renamedAudit(line: AuditLine, format: LogFormat): Readonly<Record<string, unknown>> {
  if (format === 'plain') return { ...line }
  const names = AUDIT_NAMES[format]
  return Object.fromEntries(Object.entries(line).map(([field, value]) => [names[field as keyof AuditLine], value]))
}

/** Reads a line of either log in any format; returns `undefined` for any other text. */
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

/** Reads a line about a request; returns `undefined` for any other line. */
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
  const unit = names === FIELD_NAMES.ecs ? PER_MILLISECOND.ecs : PER_MILLISECOND.otel
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, name]) => {
      const value = values[name]
      if (value === undefined) return []
      return [[field, DURATIONS.has(field) ? Number((Number(value) / unit).toPrecision(12)) : value]]
    }),
  )
}

function isLine(values: object): values is LogLine {
  const { time, requestId, path, method, status } = values as Partial<LogLine>
  const isText = [time, requestId, path, method].every((value) => typeof value === 'string')
  return isText && typeof status === 'number'
}

function isAudit(values: object): values is AuditLine {
  const { time, audit, who } = values as Partial<AuditLine>
  return typeof time === 'string' && typeof audit === 'string' && typeof who === 'string'
}
