import { type Crawler, createCatalogue } from '@sallyport/core'
import type { Command } from 'commander'
import { type JsonOptions, withJsonOptions } from '../settings/settings.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

/** `sallyport crawlers list` */
export function addCrawlersCommands(program: Command, terminal: Terminal): void {
  const crawlers = program.command('crawlers').description('the crawlers and agents that claims are checked against')

  withJsonOptions(
    crawlers.command('list').description('list the catalogue of crawlers, with the checks for each'),
  ).action((options: JsonOptions) => {
    const listed = createCatalogue().crawlers
    if (options.json) return terminal.out(json(listed.map(plain)))
    const rows = listed.map((crawler) => [crawler.slug, crawler.operator, crawler.purpose, listChecks(crawler)])
    terminal.out(columns(rows, ['slug', 'operator', 'purpose', 'checked by']))
  })
}

/** The checks that can confirm or refute, in the API's words; `nothing` where the operator publishes nothing to check by. */
function listChecks({ silent, ranges, exclusive, names, agent }: Crawler): string {
  if (silent === 'token-only') return 'never sent: a name for robots.txt'
  if (silent === 'retired') return 'never sent any more'
  const checks = [
    ranges !== undefined && 'published ranges',
    exclusive && 'operator ASN',
    names.length > 0 && 'reverse DNS',
    agent !== undefined && 'signature',
  ].filter((check) => check !== false)
  return checks.length === 0 ? 'nothing' : checks.join(', ')
}

/** A crawler as JSON: sets and patterns as in the catalogue. */
function plain({ asns, names, ...rest }: Crawler) {
  return { ...rest, names: names.map(({ text }) => text), asns: [...asns] }
}
