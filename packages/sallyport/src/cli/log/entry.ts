import type { AuditLine, LogLine } from '@sallyport/engine'

export type LogEntry = LogLine | AuditLine

/** Yields lines of the decision log; `undefined` for a line outside the log. */
export type Entries = AsyncIterable<LogEntry | undefined>

export interface LogSource {
  /** Name the source in messages, and say in a sentence what it holds. */
  readonly name: string
  readonly holds: string
  readonly entries: Entries
  /** Yields the same lines and later ones; calls `onEnd` where no line is left for now. Absent where lines arrive as they are written. */
  readonly follow?: ((onEnd: () => void) => Entries) | undefined
  /** Whether the log is the memory of a gate, and is lost with it. */
  readonly isMemory?: boolean | undefined
  /** Returns whether a packed file ended early. */
  readonly isCut?: (() => boolean) | undefined
}

export function isRequest(entry: LogEntry): entry is LogLine {
  return !('audit' in entry)
}
