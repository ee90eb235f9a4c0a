import { constants, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Observe, type ObservedRequest, SallyportError } from '@sallyport/core'
import { fileReason, makeFolder, OWN_FILE, placeFault, writeFault } from '#files'
import { type AddressForm, addressWriter } from './addresses.ts'
import { type AuditEntry, auditLine } from './audit-line.ts'
import { type LogFormat, renamed, renamedAudit } from './formats.ts'
import { lineOf } from './line.ts'
import { openLines } from './lines.ts'

/** Which requests are written: those flagged, asked, blocked or on trial and those with a solution, all, or none. */
export const LOGGED_REQUESTS = ['decided', 'all', 'off'] as const
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number]

export interface LogOptions {
  readonly requests: LoggedRequests
  readonly addresses: AddressForm
  /** Share of the allowed requests that `all` writes, 0 to 1. */
  readonly sample: number
  readonly format: LogFormat
  /** Absent: standard output. */
  readonly file?: string | undefined
  /** Keeps the key of `hashed` for its day; absent: it is in memory alone. */
  readonly keyFolder?: string | undefined
  /** A line was lost: the disk is full, the reader of a pipe has left. Called once for each kind of failure. */
  readonly onFault?: ((error: Error) => void) | undefined
}

/** The decision log of one service. */
export interface Log {
  readonly observe: Observe
  /** Written whatever `requests` says. */
  audit(entry: AuditEntry): void
  /** Lines that could not be written. */
  readonly lost: number
  /** Hands what is held to the file. */
  flush(): void
  /** Opens the file again, after it was moved away. */
  reopen(): void
  /** Writes what is held and lets go of the file. */
  close(): Promise<void>
}

/** Every line has it, because collectors ask for one. */
const LEVEL_NAMES = { plain: 'level', ecs: 'log.level', otel: 'severity_text' } as const

/** Opens a log. Throws `invalid_config` where its file cannot be written. */
export function createLog(options: LogOptions): Log {
  const { requests, sample, format } = options
  const write = addressWriter(options.addresses, options.keyFolder)
  const proof = options.file === undefined ? undefined : openProof(options.file)
  const lines = openLines(options.file, options.onFault, proof)
  const start = `{"${LEVEL_NAMES[format]}":"info",`
  const add = (line: object): void => lines.write(`${start}${JSON.stringify(line).slice(1)}\n`)

  function isWritten({ decision, challenge }: ObservedRequest): boolean {
    if (challenge !== undefined) return true
    if (decision !== undefined && (decision.action !== 'allow' || decision.trial !== undefined)) return true
    return requests === 'all' && (sample >= 1 || Math.random() < sample)
  }

  return {
    observe(observed) {
      if (requests === 'off' || !isWritten(observed)) return
      add(renamed(lineOf(observed, write(observed.client, observed.at)), format))
    },
    audit(entry) {
      add(renamedAudit(auditLine(entry), format))
    },
    get lost() {
      return lines.lost
    },
    flush: lines.flush,
    reopen: lines.reopen,
    close: lines.close,
  }
}

/** Opens a file for the proof that it can be written. The reader of a pipe has its end when the last that writes to it closes it. */
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
  return `${file} ${isUnread ? 'is a pipe that nobody reads' : fileReason(error, 'written')}`
}

/** A pipe that nobody reads is refused: without `O_NONBLOCK` the whole process would wait for its reader. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0)
