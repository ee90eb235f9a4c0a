import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Observe, type ObservedRequest, SallyportError } from '@sallyport/core'
import { pino } from 'pino'
import { type AddressForm, addressWriter } from './addresses.ts'
import { type AuditEntry, auditLine } from './audit-line.ts'
import { type LogFormat, renamed, renamedAudit } from './formats.ts'
import { lineOf } from './line.ts'

/** Which requests are written: those flagged, blocked or on trial, all, or none. */
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
  /** Opens the file again, after it was moved away. */
  reopen(): void
  /** Writes what is held and lets go of the file. */
  close(): Promise<void>
}

/** Lines are held up to so many bytes, or so long. */
const BATCH_BYTES = 3_072
/** What is written at once: a pipe takes so much in one piece, whatever other workers write. */
const WRITE_BYTES = 4_096
const BATCH_MS = 100
/** How long a disk or a reader that takes nothing is waited for at the end. */
const CLOSE_MS = 2_000
/** Of lines that the disk or the reader does not take; what comes then is lost and counted. */
const MAX_HELD_BYTES = 16 * 1024 * 1024

/** Every line has it, because collectors ask for one. */
const LEVEL_NAMES = { plain: 'level', ecs: 'log.level', otel: 'severity_text' } as const

/** Opens a log. Throws `invalid_config` where its file cannot be written. */
export function createLog(options: LogOptions): Log {
  if (options.file !== undefined) requireWritable(options.file)
  const { requests, sample, format } = options
  const write = addressWriter(options.addresses, options.keyFolder)
  const destination = pino.destination({
    dest: options.file ?? 1,
    sync: false,
    minLength: BATCH_BYTES,
    maxWrite: WRITE_BYTES,
    periodicFlush: BATCH_MS,
    maxLength: MAX_HELD_BYTES,
  })
  const level = (label: string) => ({ [LEVEL_NAMES[format]]: label })
  const logger = pino({ base: null, timestamp: false, formatters: { level } }, destination)

  let lost = 0
  const told = new Set<string>()
  const lose = (error: Error): void => {
    lost++
    if (told.has(error.message)) return
    told.add(error.message)
    options.onFault?.(error)
  }
  destination.on('error', lose)
  destination.on('drop', () => lose(new Error('the log is written more slowly than it comes')))

  function isWritten({ decision }: ObservedRequest): boolean {
    if (decision !== undefined && (decision.action !== 'allow' || decision.trial !== undefined)) return true
    return requests === 'all' && (sample >= 1 || Math.random() < sample)
  }

  /** A request that outlives the log is lost to it, and throws at nobody. */
  let closed = false
  const add = (line: object): void => {
    if (closed) lost++
    else logger.info(line)
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
      return lost
    },
    reopen() {
      if (options.file !== undefined && !closed) destination.reopen()
    },
    close: () =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(late)
          // Else it would go on trying.
          destination.destroy()
          resolve()
        }
        const late = setTimeout(end, CLOSE_MS)
        closed = true
        destination.once('close', end)
        destination.once('error', end)
        destination.end()
      }),
  }
}

function requireWritable(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true })
    closeSync(openSync(file, 'a'))
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? error.code : 'unwritable'
    throw new SallyportError('invalid_config', `log.file: cannot write ${file}: ${why}`)
  }
}
