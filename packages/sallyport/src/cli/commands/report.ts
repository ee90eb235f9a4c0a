import { existsSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import { createReport, type Report, readTally, type TallyReports } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { type LogSource, logAtHand, logOf, logOption, reportUnread } from '../log/decision-log.ts'
import { isRequest } from '../log/entry.ts'
import { type FilterOptions, filterOf, withFilters } from '../log/log-filter.ts'
import { crawlerSections } from '../report/crawler-sections.ts'
import { reportText } from '../report/report-text.ts'
import { sectionText } from '../report/section.ts'
import { tallySections } from '../report/tally-sections.ts'
import { type CommonOptions, configOf, jsonOption, withCommonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

interface Options extends CommonOptions, FilterOptions {
  readonly log?: string | undefined
  readonly html?: string | undefined
  readonly ai?: true | undefined
  readonly json?: true | undefined
}

/** `sallyport report [LOG]` */
export function addReportCommand(program: Command, terminal: Terminal): void {
  const report = program
    .command('report')
    .description(
      'sum up the counts and the decision log: what was blocked, and what monitor mode or a trial would have blocked',
    )
    .argument('[log]', 'the same as --log')
  withFilters(withCommonOptions(report).addOption(logOption()))
    .option('--ai', 'what AI and crawlers read, and whether they kept to robots.txt')
    .addOption(new Option('--html <file>', 'gone').hideHelp())
    .addOption(jsonOption())
    .action(async (log: string | undefined, options: Options) => {
      if (options.html !== undefined)
        throw new SallyportError('invalid_request', '--html is gone: print the Report view of the console.')
      const found = await findings({ ...options, log: log ?? options.log }, terminal)
      const { tally, sums } = printableValue(found)
      const counts = tally === undefined ? [] : options.ai ? crawlerSections(tally.crawlers) : tallySections(tally.all)
      if (options.json)
        terminal.out(json(options.ai ? found.tally?.crawlers : { ...found.sums, tally: found.tally?.all }))
      else
        terminal.out(
          [...counts.map(sectionText), ...(sums === undefined ? [] : [reportText(sums, tally === undefined)])].join(
            '\n\n',
          ),
        )
    })
}

/** Sources of a report: the counts of a service, and the lines of its log. */
interface Findings {
  readonly tally: TallyReports | undefined
  readonly sums: Report | undefined
}

/** Time that is summed up where none is named. */
const SPAN_MS = 7 * 86_400_000

/**
 * The tally where a report is about all requests of a service, and the log where one is named, configured or piped in. Where
 * nothing was counted there is the log alone, wherever it is.
 */
async function findings(options: Options, terminal: Terminal): Promise<Findings> {
  const tally = await tallyOf(options)
  if (options.ai) {
    if (tally === undefined) throw new SallyportError('invalid_request', nothingCounted(options))
    return { tally, sums: undefined }
  }
  const source = tally === undefined ? await logOf(options) : await logBeside(options)
  if (tally === undefined && source?.isMemory && configOf(options).tally !== 0)
    terminal.err('sallyport: nothing is counted yet; the counts are written every five seconds.')
  return { tally: source?.isPiped ? undefined : tally, sums: source && (await sumsOf(source, options, terminal)) }
}

/** `undefined` where nothing was counted, or where the question is about some lines of a log. */
async function tallyOf(options: Options): Promise<TallyReports | undefined> {
  const { action, trial, rule, class: ofClass, network, client, path, status, audit } = options
  const aboutLines = [action, trial, rule, ofClass, network, client, path, status, audit, options.log]
  if (aboutLines.some((one) => one !== undefined) && !options.ai) return undefined
  const now = Date.now()
  return readTally(configOf(options), options.since ?? now - SPAN_MS, now)
}

async function logBeside(options: Options): Promise<LogSource | undefined> {
  const config = configOf(options)
  if (config.log.file === undefined) return logAtHand(config)
  return existsSync(config.log.file) ? logOf(options) : undefined
}

function nothingCounted(options: Options): string {
  const { dataDir, tally } = configOf(options)
  return tally === 0 ? 'Nothing is counted: tally is 0.' : `Nothing was counted yet in ${dataDir}.`
}

async function sumsOf(source: LogSource, options: Options, terminal: Terminal): Promise<Report> {
  if (source.isMemory) terminal.err(`sallyport: this is ${source.name}. ${source.holds}`)
  const { sums, unread } = await sum(source, options)
  reportUnread(source, { read: sums.requests, unread }, terminal)
  return sums
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
