import { isRecord } from '@sallyport/core'
import type { AuditLine } from './audit-line.ts'
import { FIELD_NAMES, type LogLine } from './fields.ts'

export const LOG_FORMATS = ['plain', 'ecs', 'otel'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

type Names = Readonly<Record<string, string>>
type Entry = Readonly<Record<string, unknown>>

/** Durations are nanoseconds in ECS and seconds in OpenTelemetry. */
const PER_MILLISECOND = { ecs: 1_000_000, otel: 0.001 } as const
const DURATIONS: ReadonlySet<string> = new Set<keyof LogLine>([
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

/** Writes a line of either log with the names and units of its format. */
export function renamed(line: LogLine | AuditLine, format: LogFormat): object {
  if (format === 'plain') return line
  const names: Names = 'audit' in line ? AUDIT_NAMES[format] : FIELD_NAMES[format]
  return Object.fromEntries(
    Object.entries(line).map(([field, value]) => [
      names[field] ?? field,
      DURATIONS.has(field) && value !== undefined ? multiply(value, PER_MILLISECOND[format]) : value,
    ]),
  )
}

function multiply(value: unknown, by: number): number {
  return Number((Number(value) * by).toPrecision(12))
}

/** Reads a line of either log in any format; returns `undefined` for any other text. */
export function readEntry(text: string): LogLine | AuditLine | undefined {
  const values = parsed(text)
  if (values === undefined) return undefined
  for (const format of LOG_FORMATS) {
    const line = format === 'plain' ? values : withPlainNames(values, FIELD_NAMES[format], format)
    if (isLine(line)) return line
    const audit = format === 'plain' ? values : withPlainNames(values, AUDIT_NAMES[format], format)
    if (isAudit(audit)) return audit
  }
  return undefined
}

/** Reads a line about a request; returns `undefined` for any other line. */
export function readLine(text: string): LogLine | undefined {
  const entry = readEntry(text)
  return entry !== undefined && isLine(entry) ? entry : undefined
}

function parsed(text: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function withPlainNames(values: Entry, names: Names, format: 'ecs' | 'otel'): Entry {
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, name]) => {
      const value = values[name]
      if (value === undefined) return []
      return [[field, DURATIONS.has(field) ? multiply(value, 1 / PER_MILLISECOND[format]) : value]]
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
