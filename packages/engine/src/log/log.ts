import { constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ObservedRequest, SallyportError } from '@sallyport/core'
import { fileReason, makeFolder, OWN_FILE, placeFault, writeFault } from '#files'
import { type AddressForm, addressWriter } from './addresses.ts'
import { type AuditEntry, auditLine } from './audit-line.ts'
import { type LogFormat, renamed } from './formats.ts'
import { writeLine } from './line.ts'
import { openLines } from './lines.ts'

/** The log writes decided requests (flagged, challenged, blocked, on trial, or with a solution or a payment), all requests, or none. */
export const LOGGED_REQUESTS = ['decided', 'all', 'off'] as const
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number]

export interface LogOptions {
  readonly requests: LoggedRequests
  readonly addresses: AddressForm
  /** Share of the allowed requests that `all` writes, from 0 to 1. */
  readonly sample: number
  readonly format: LogFormat
  /** If absent, the log goes to standard output. */
  readonly file?: string | undefined
  /** Keeps the key of `hashed` for its day; if absent, the key stays in memory. */
  readonly keyFolder?: string | undefined
  /** Called once for each kind of failure when a line was lost: the disk is full, or the reader of a pipe has left. */
  readonly onFault?: ((error: Error) => void) | undefined
}

/** Writes the decision log of one service. */
export type Log = ReturnType<typeof createLog>

/** Every line has a level, because collectors require one. */
const LEVEL_NAMES = { plain: 'level', ecs: 'log.level', otel: 'severity_text' } as const

/** Opens a log. Throws `invalid_config` where its file cannot be written. */
export function createLog(options: LogOptions) {
  const { requests, sample, format } = options
  const write = addressWriter(options.addresses, options.keyFolder)
  const proof = options.file === undefined ? undefined : openProof(options.file)
  const lines = openLines(options.file, options.onFault, proof)
  const start = `{"${LEVEL_NAMES[format]}":"info",`
  const add = (line: object): void => lines.write(`${start}${JSON.stringify(line).slice(1)}\n`)

  function isWritten({ decision, challenge, payment }: ObservedRequest): boolean {
    if (challenge !== undefined || payment !== undefined) return true
    if (decision !== undefined && (decision.action !== 'allow' || decision.trial !== undefined)) return true
    return requests === 'all' && (sample >= 1 || Math.random() < sample)
  }

  return {
    observe(observed: ObservedRequest): void {
      if (requests === 'off' || !isWritten(observed)) return
      add(renamed(writeLine(observed, write(observed.client, observed.at)), format))
    },
    /** Writes an entry, whatever `requests` says. */
    audit(entry: AuditEntry): void {
      add(renamed(auditLine(entry), format))
    },
    get lost(): number {
      return lines.lost
    },
    flush: lines.flush,
    reopen: lines.reopen,
    close: lines.close,
  }
}

/** Opens a file to prove that it can be written. A pipe's reader sees the end when the last writer closes it. */
function openProof(file: string): number {
  const fault = placeFault(file)
  if (fault !== undefined) throw new SallyportError('invalid_config', `log.file: ${file} ${fault}`)
  try {
    makeFolder(dirname(file))
    return openSync(file, APPEND, OWN_FILE)
  } catch (error) {
    throw new SallyportError('invalid_config', `log.file: ${writeFault(file)?.found ?? openReason(file, error)}`)
  }
}

function openReason(file: string, error: unknown): string {
  const isUnread = error instanceof Error && 'code' in error && error.code === 'ENXIO'
  return `${file} ${isUnread ? 'is a pipe without a reader' : fileReason(error, 'written')}`
}

/** Opening a pipe without a reader fails: without `O_NONBLOCK` the whole process would wait for a reader. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0)
