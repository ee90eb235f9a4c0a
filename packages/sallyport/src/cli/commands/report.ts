import { DAY_MS, SallyportError } from '@sallyport/core'
import { type Config, openLedgerTools, readTally } from '@sallyport/engine'
import type { CrawlsJson } from '@sallyport/ledger'
import { type Command, Option } from 'commander'
import { crawlerSections, type Section, tallySections } from '#console'
import { parseSince } from '../log/log-filter.ts'
import { type JsonOptions, readConfig, using, withJsonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { bold, columns, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly since?: number | undefined
  readonly ai?: true | undefined
  readonly evidence?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly addresses?: true | undefined
}

const SPAN_MS = 7 * DAY_MS

/** Builds the evidence of what an operator read. Rejects without --ai, and where no record exists. */
async function findEvidence(
  config: Config,
  operator: string,
  { ai, from, to, addresses }: Options,
  now: number,
): Promise<CrawlsJson> {
  if (ai === undefined) throw new SallyportError('invalid_request', '--evidence needs --ai.')
  const span = [from ?? now - SPAN_MS, to ?? now].map((at) => new Date(at).toISOString())
  const [since = '', until = ''] = span
  const query = { from: since, to: until, withAddresses: addresses === true }
  const found = await using(openLedgerTools(config), (tools) => tools.crawls(operator, query))
  if (found !== undefined) return found
  const why = config.crawls === false ? ' Set crawls to record what crawlers read; it is false.' : ''
  throw new SallyportError('invalid_request', `There is no record of ${operator} from ${since} to ${until}.${why}`)
}

/** Limits a name, in characters: a row must fit beside its figures. */
const LONGEST_NAME = 48

function shorten(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

function sectionText({ title, sentences, table }: Section): string {
  const rows = table?.rows.map(([name = '', ...figures]) => [shorten(name), ...figures]) ?? []
  return [bold(title), ...sentences, ...(rows.length === 0 ? [] : [columns(rows, table?.head)])].join('\n')
}

/** Prints evidence as JSON, each record apart: the text of a busy month would be in memory several times. */
function printEvidence(evidence: CrawlsJson, { out }: Terminal): void {
  // Texts within the evidence have no such quotes: JSON escapes them.
  const [head, tail] = json({ ...evidence, records: [] }).split('"records": []')
  out(`${head}"records": [`)
  for (const [at, record] of evidence.records.entries()) out(`${at === 0 ? '    ' : '    ,'}${json(record)}`)
  out(`  ]${tail}`)
}

export function addReportCommand(program: Command, terminal: Terminal): void {
  const report = program
    .command('report')
    .description('summarize decisions, and what monitor mode and dry runs would change')
  withJsonOptions(report)
    .addOption(new Option('--since <time>', 'start: 24h, 7d, or an ISO 8601 time').argParser(parseSince))
    .option('--ai', 'show what AI and crawlers read, and whether they obeyed robots.txt')
    .option('--evidence <operator>', 'with --ai: export evidence of what this operator read, for offline verification')
    .addOption(new Option('--from <time>', 'with --evidence: start time').argParser(parseSince))
    .addOption(new Option('--to <time>', 'with --evidence: end time').argParser(parseSince))
    .option('--addresses', 'with --evidence: disclose addresses of verified crawlers')
    .action(async (options: Options) => {
      const config = readConfig(options)
      const now = Date.now()
      if (options.evidence !== undefined)
        return printEvidence(await findEvidence(config, options.evidence, options, now), terminal)
      const tally = await readTally(config, options.since ?? now - SPAN_MS, now)
      if (tally === undefined) {
        const why =
          config.tally === 0 ? 'No counts exist: tally is 0.' : `There are no counts yet in ${config.dataDir}.`
        throw new SallyportError('invalid_request', `${why} Use sallyport replay or sallyport logs with a log file.`)
      }
      if (options.json) return terminal.out(json(options.ai ? tally.crawlers : { tally: tally.all }))
      const { all, crawlers } = printableValue(tally)
      const sections = options.ai ? crawlerSections(crawlers) : tallySections(all)
      terminal.out(sections.map(sectionText).join('\n\n'))
    })
}
