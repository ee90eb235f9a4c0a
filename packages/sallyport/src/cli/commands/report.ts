import { closeSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import { counted, SallyportError } from '@sallyport/core'
import { createReport, type Report } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { type LogSource, logOf, logOption } from '../log/decision-log.ts'
import { isRequest } from '../log/entry.ts'
import { type FilterOptions, filterOf, withFilters } from '../log/log-filter.ts'
import { REPORT_MARK, reportPage } from '../report/report-page.ts'
import { reportText } from '../report/report-text.ts'
import { type CommonOptions, jsonOption, withCommonOptions } from '../settings/settings.ts'
import { confirm, yesOption } from '../terminal/ask.ts'
import { printableValue } from '../terminal/printable.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

interface Options extends CommonOptions, FilterOptions {
  readonly log?: string | undefined
  readonly html?: string | undefined
  readonly yes?: true | undefined
  readonly json?: true | undefined
}

/** `sallyport report [LOG]` */
export function addReportCommand(program: Command, terminal: Terminal): void {
  const report = program
    .command('report')
    .description('sums up the decision log: what was blocked, and what monitor mode or a trial would have')
    .argument('[log]', 'the same as --log')
  withFilters(withCommonOptions(report).addOption(logOption()))
    .addOption(new Option('--html <file>', 'write a page that can be sent on as it is'))
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (log: string | undefined, options: Options) => {
      // Before a long log is read, on a terminal that may be left alone meanwhile.
      if (options.html !== undefined) await confirmOverwriting(options.html, options.yes, terminal)
      const source = await logOf({ ...options, log: log ?? options.log })
      if (source.isMemory) terminal.err(`sallyport: this is ${source.name}. ${source.holds}`)
      const { sums, unread } = await sum(source, options)
      if (sums.requests === 0 && unread > 0) {
        throw new SallyportError('invalid_request', `${source.name} is no decision log.`)
      }
      if (unread > 0) terminal.err(`sallyport: ${counted(unread, 'line')} of it not read: no part of a decision log.`)
      if (options.html !== undefined) {
        write(options.html, reportPage(printableValue(sums)))
        terminal.err(`sallyport: the report is in ${options.html}.`)
      }
      if (options.json) terminal.out(json(sums))
      else if (options.html === undefined) terminal.out(reportText(printableValue(sums)))
    })
}

async function sum(
  { entries }: LogSource,
  options: Options,
): Promise<{ readonly sums: Report; readonly unread: number }> {
  const passes = filterOf(options)
  const report = createReport()
  let unread = 0
  for await (const entry of entries) {
    if (entry === undefined) unread++
    else if (isRequest(entry) && passes(entry)) report.add(entry)
  }
  return { sums: report.result(), unread }
}

/** Asks where the file is there and is no report of ours. */
async function confirmOverwriting(file: string, yes: true | undefined, terminal: Terminal): Promise<void> {
  if (isReplaceable(file)) return
  await confirm(`${file} is there, and is no report that sallyport wrote: it would be overwritten.`, yes, terminal)
}

function isReplaceable(file: string): boolean {
  try {
    if (statSync(file).size === 0) return true
    const handle = openSync(file, 'r')
    try {
      const head = Buffer.alloc(MARK_WITHIN)
      return head.toString('latin1', 0, readSync(handle, head)).includes(REPORT_MARK)
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    // A file that cannot be read cannot be judged: only one that is not there is nobody's.
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EISDIR')
  }
}

/** The mark is in the head of the page. */
const MARK_WITHIN = 512

function write(file: string, page: string): void {
  try {
    writeFileSync(file, page)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unwritable'
    throw new SallyportError('invalid_request', `${file}: cannot be written: ${reason}`)
  }
}
