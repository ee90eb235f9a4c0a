import { SallyportError } from '@sallyport/core'
import { type AuditLine, type LogLine, readEntry } from '@sallyport/engine'
import { Option } from 'commander'
import { type CommonOptions, configOf } from '../settings/settings.ts'
import { linesOf, linesOfFile } from './lines.ts'

/** A line of the decision log. */
export type LogEntry = LogLine | AuditLine

/** Source of the decision log. */
export interface LogSource {
  /** Absent: standard input. */
  readonly file?: string | undefined
  /** Lines of both kinds; `undefined` for one that is no line of the log. */
  readonly entries: AsyncIterable<LogEntry | undefined>
}

/** `--log` of a command that reads the decision log. */
export function logOption(): Option {
  return new Option('--log <file>', 'the decision log (default: log.file of the configuration, else standard input)')
}

/** The log that is named, else the configured one, else standard input. Throws `invalid_request` where there is none. */
export function logOf(options: CommonOptions & { readonly log?: string | undefined }): LogSource {
  const file = options.log ?? configOf(options).log.file
  if (file !== undefined) return { file, entries: entriesOf(linesOfFile(file)) }
  if (process.stdin.isTTY) {
    throw new SallyportError('invalid_request', 'No log is named: use --log, set log.file, or pipe the log in.')
  }
  return { entries: entriesOf(linesOf(process.stdin.setEncoding('utf8'))) }
}

export async function* entriesOf(lines: AsyncIterable<string | undefined>): AsyncIterable<LogEntry | undefined> {
  for await (const line of lines) {
    if (line === undefined || line.trim() !== '') yield line === undefined ? undefined : readEntry(line)
  }
}

export function isRequest(entry: LogEntry): entry is LogLine {
  return !('audit' in entry)
}
