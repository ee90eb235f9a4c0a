import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { counted, SallyportError } from '@sallyport/core'
import { AUDIT_FILE, readEntry } from '@sallyport/engine'
import { Option } from 'commander'
import { type CommonOptions, readConfig } from '../settings/settings.ts'
import { inputName, STANDARD_INPUT } from '../terminal/input.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { cleanLines } from './clean-lines.ts'
import type { Entries, LogEntry, LogSource } from './entry.ts'
import { describeCut, followText, readFileLines, splitLines } from './lines.ts'
import { openMemory } from './remembered.ts'

export function logOption(): Option {
  return new Option(
    '--log <file>',
    'decision log; - reads standard input (default: log.file, else the memory of the running gate)',
  )
}

/** Opens the named log, else the configured log, the trail of commands, or the memory of the running gate. Throws `invalid_request`. */
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

/** Yields the entries of a log; then reports a cut and foreign lines. Throws `invalid_request` where every line is foreign. */
export async function* readLog(
  { name, isCut }: LogSource,
  entries: Entries,
  terminal: Terminal,
): AsyncIterable<LogEntry> {
  let [read, unread] = [0, 0]
  for await (const entry of entries) {
    if (entry === undefined) unread++
    else {
      read++
      yield entry
    }
  }
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
    holds: 'The key log.requests sets which requests the log contains.',
    entries: readEntries(readFileLines(file, 'utf8', onCut)),
    isCut: () => cut,
    follow: file === STANDARD_INPUT ? undefined : (onEnd) => readEntries(splitLines(followText(file, onEnd))),
  }
}

async function* readEntries(lines: AsyncIterable<string | undefined>): Entries {
  for await (const line of cleanLines(lines)) yield line === undefined ? undefined : readEntry(line)
}
