import { type Crawler, createCatalogue } from '@sallyport/core'
import type { Command } from 'commander'
import { type JsonOptions, withJsonOptions } from '../settings/settings.ts'
import { columns, json, type Terminal } from '../terminal/terminal.ts'

export function addCrawlersCommands(program: Command, terminal: Terminal): void {
  const crawlers = program.command('crawlers').description('show the catalogue of crawlers and agents')

  withJsonOptions(crawlers.command('list').description('list crawlers and agents, and how each is verified')).action(
    (options: JsonOptions) => {
      const listed = createCatalogue().crawlers
      if (options.json) return terminal.out(json(listed.map(plain)))
      const rows = listed.map((crawler) => [crawler.slug, crawler.operator, crawler.purpose, listChecks(crawler)])
      terminal.out(columns(rows, ['slug', 'operator', 'purpose', 'verified by']))
    },
  )
}

/** Lists the checks that can confirm or refute a claim, in the API's words; `nothing` where the operator publishes nothing. */
function listChecks({ silent, ranges, exclusive, names, agent }: Crawler): string {
  if (silent === 'token-only') return 'robots.txt name only, never sent'
  if (silent === 'retired') return 'no longer sent'
  const checks = [
    ranges !== undefined && 'published ranges',
    exclusive && 'operator ASN',
    names.length > 0 && 'reverse DNS',
    agent !== undefined && 'signature',
  ].filter((check) => check !== false)
  return checks.length === 0 ? 'nothing' : checks.join(', ')
}

function plain({ asns, names, ...rest }: Crawler) {
  return { ...rest, names: names.map(({ text }) => text), asns: [...asns] }
}
