import type { Command } from 'commander'
import { logOption, openLog, readLog } from '../log/decision-log.ts'
import type { LogEntry } from '../log/entry.ts'
import { createFilter, type FilterOptions, withFilters } from '../log/log-filter.ts'
import { entryText } from '../log/log-text.ts'
import { createParser } from '../settings/option-parser.ts'
import { type JsonOptions, withJsonOptions } from '../settings/settings.ts'
import { printableJson } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions, FilterOptions {
  readonly log?: string | undefined
  readonly follow?: true | undefined
  readonly lines?: number | undefined
}

const LINES_BEFORE = 10

export function addLogsCommand(program: Command, terminal: Terminal): void {
  const logs = program.command('logs').description('show the decision log, one line per request')
  withFilters(withJsonOptions(logs).addOption(logOption()))
    .option('-f, --follow', 'follow new lines, including after log rotation')
    .option('-n, --lines <n>', `number of last lines (default: all; ${LINES_BEFORE} with --follow)`, parseCount)
    .action(async (options: Options) => {
      const passes = createFilter(options)
      const write = options.json ? (entry: LogEntry) => printableJson(entry) : entryText
      const source = await openLog(options)
      const { entries, follow, isMemory, name, holds } = source
      if (isMemory) terminal.err(`sallyport: these requests are from ${name}. ${holds}`)
      const following = options.follow === true ? follow : undefined
      const count = options.lines ?? (following ? LINES_BEFORE : Number.POSITIVE_INFINITY)
      const held = createTail(count, (entry) => terminal.out(write(entry)))
      for await (const entry of readLog(source, following?.(held.release) ?? entries, terminal)) {
        if (terminal.isClosed) break
        if (passes(entry)) held.add(entry)
      }
      held.release()
    })
}

const parseCount = createParser(
  (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  'The value must be a number of lines.',
)

/** Holds the last entries until it is released, at most twice as many; then shows each entry at once. */
function createTail(count: number, show: (entry: LogEntry) => void) {
  let released = count === Number.POSITIVE_INFINITY
  const held: LogEntry[] = []
  return {
    add(entry: LogEntry) {
      if (released) return show(entry)
      held.push(entry)
      // Removing entries one by one would move all that are left each time.
      if (held.length > 2 * count) held.splice(0, held.length - count)
    },
    release(): void {
      released = true
      const last = held.splice(0)
      for (const entry of last.slice(Math.max(0, last.length - count))) show(entry)
    },
  }
}
