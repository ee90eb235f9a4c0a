import { DAY_MS, SallyportError } from '@sallyport/core'
import { readTally } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { crawlerSections, tallySections } from '#console'
import { parseSince } from '../log/log-filter.ts'
import { sectionText } from '../report/section.ts'
import { type JsonOptions, readConfig, withJsonOptions } from '../settings/settings.ts'
import { printableValue } from '../terminal/printable.ts'
import { json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly since?: number | undefined
  readonly ai?: true | undefined
}

/** The span of a report without `--since`. */
const SPAN_MS = 7 * DAY_MS

/** `sallyport report` */
export function addReportCommand(program: Command, terminal: Terminal): void {
  const report = program
    .command('report')
    .description('sum up the counts of a service: what was done, and what monitor mode or a trial would have done')
  withJsonOptions(report)
    .addOption(new Option('--since <time>', 'from this time on: 24h, 7d, or ISO 8601').argParser(parseSince))
    .option('--ai', 'what AI and crawlers read, and whether they kept to robots.txt')
    .action(async (options: Options) => {
      const config = readConfig(options)
      const now = Date.now()
      const tally = await readTally(config, options.since ?? now - SPAN_MS, now)
      if (tally === undefined) {
        const why =
          config.tally === 0 ? 'Nothing is counted: tally is 0.' : `Nothing was counted yet in ${config.dataDir}.`
        throw new SallyportError('invalid_request', `${why} replay decides the lines of a log, and logs shows them.`)
      }
      if (options.json) return terminal.out(json(options.ai ? tally.crawlers : { tally: tally.all }))
      const { all, crawlers } = printableValue(tally)
      const sections = options.ai ? crawlerSections(crawlers) : tallySections(all)
      terminal.out(sections.map(sectionText).join('\n\n'))
    })
}
