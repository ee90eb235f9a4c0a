import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { counted, SallyportError } from '@sallyport/core'
import { AUDIT_FILE, type Config, readEntry } from '@sallyport/engine'
import { Option } from 'commander'
import { type CommonOptions, readConfig } from '../settings/settings.ts'
import { inputName, STANDARD_INPUT } from '../terminal/input.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cleanLines } from './clean-lines.ts'
import type { LogEntry } from './entry.ts'
import { describeCut, followText, readFileLines, splitLines } from './lines.ts'
import { rememberedLog } from './remembered.ts'

type Entries = AsyncIterable<LogEntry | undefined>

/** Gives the lines of the decision log. */
export interface LogSource {
  /** Name the source in messages, and say in a sentence what it holds. */
  readonly name: string
  readonly holds: string
  /** Yields lines of both kinds; `undefined` for a line outside the log. */
  readonly entries: Entries
  /**
   * Yields the same lines, and later ones; calls `onEnd` whenever no line is left for now. Absent where lines arrive as they are written.
   */
  readonly follow?: ((onEnd: () => void) => Entries) | undefined
  /** Whether the log is the memory of a gate, and is lost with it. */
  readonly isMemory?: boolean | undefined
  /** Returns whether a packed file ended early. */
  readonly isCut?: (() => boolean) | undefined
}

const WRITTEN = 'The key log.requests sets which requests the log contains.'
const REMEMBERED =
  'The memory holds the last 4,000 requests of each process, at most 50 allowed and 100 other requests per second. Set log.file to keep more.'

/** Creates the option `--log` for a command that reads the decision log. */
export function logOption(): Option {
  return new Option(
    '--log <file>',
    'decision log; - reads standard input (default: log.file, else the memory of the running gate)',
  )
}

/**
 * Opens the named log, else the configured log, or the trail of commands beside it, else the memory of the gate that runs with this
 * configuration: all of it, or one request by its id. Throws `invalid_request` where there is none.
 */
export async function openLog(
  options: CommonOptions & { readonly log?: string | undefined; readonly audit?: true | undefined },
  id?: string,
): Promise<LogSource> {
  if (options.log !== undefined) return openFileLog(options.log)
  const config = readConfig(options)
  const trail = join(config.dataDir, AUDIT_FILE)
  if (options.audit && config.log.file === undefined && existsSync(trail)) return openFileLog(trail)
  return config.log.file === undefined ? openMemory(config, id) : openFileLog(config.log.file)
}

/** Reports whether a log is cut short, and how many lines do not belong to it. Throws `invalid_request` where no line does. */
export function reportUnread(
  { name, isCut }: LogSource,
  { read, unread }: { readonly read: number; readonly unread: number },
  terminal: Terminal,
): void {
  if (isCut?.()) terminal.err(`sallyport: ${describeCut(name)}`)
  if (unread === 0) return
  if (read === 0) throw new SallyportError('invalid_request', `${name} is not a decision log.`)
  terminal.err(`sallyport: skipped ${counted(unread, 'line')} that are not part of a decision log.`)
}

function openFileLog(file: string): LogSource {
  let cut = false
  const onCut = () => {
    cut = true
  }
  return {
    name: inputName(file),
    holds: WRITTEN,
    entries: readEntries(readFileLines(file, 'utf8', onCut)),
    isCut: () => cut,
    follow: file === STANDARD_INPUT ? undefined : (onEnd) => readEntries(splitLines(followText(file, onEnd))),
  }
}

/** Opens the memory of the gate that runs with this configuration. */
async function openMemory(config: Config, id: string | undefined): Promise<LogSource> {
  const remembered = await rememberedLog(config, id)
  if ('reason' in remembered) {
    const found = `There is no --log, log.file is not set, and ${remembered.reason}`
    throw new SallyportError('invalid_request', `${found}. Use --log, set log.file, or pipe the log into --log -.`)
  }
  const { name, entries, follow } = remembered
  return { name, holds: REMEMBERED, entries: each(entries), follow, isMemory: true }
}

async function* each(entries: readonly LogEntry[]): Entries {
  yield* entries
}

async function* readEntries(lines: AsyncIterable<string | undefined>): Entries {
  for await (const line of cleanLines(lines)) yield line === undefined ? undefined : readEntry(line)
}
