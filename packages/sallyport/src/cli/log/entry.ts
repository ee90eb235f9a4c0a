import type { AuditLine, LogLine } from '@sallyport/engine'

/** A line that is in the decision log. */
export type LogEntry = LogLine | AuditLine

export function isRequest(entry: LogEntry): entry is LogLine {
  return !('audit' in entry)
}
