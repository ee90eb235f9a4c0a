import { parseAddress, SallyportError } from '@sallyport/core'
import { briefOf } from './brief.ts'
import type { ConsoleParts, Row } from './route.ts'
import { mapOf, memberOf } from './values.ts'

const LISTED = 60

/** The catalogue, how each can be verified, and who came in these names. */
export const CRAWLER_ROWS: readonly Row[] = [
  {
    method: 'GET',
    path: 'crawlers',
    role: 'read',
    answer: ({ now }, parts) => ({
      crawlers: catalogueOf(parts),
      seen: parts.history.top('crawlers', now, 24, 300),
      recent: recentOf(parts),
    }),
  },
  {
    method: 'POST',
    path: 'crawlers/verify',
    role: 'read',
    async answer({ body }, { sallyport }) {
      const given = mapOf(await body())
      const address = parseAddress(memberOf(given, 'ip', 64)?.trim() ?? '')
      if (address === undefined) throw new SallyportError('invalid_ip')
      const [bot, userAgent] = [memberOf(given, 'bot', 64), memberOf(given, 'userAgent')]
      return sallyport.knowledge.crawlers.verify(address, {
        ...(bot !== undefined && { bot }),
        ...(userAgent !== undefined && { userAgent }),
      })
    },
  },
]

function catalogueOf({ sallyport }: ConsoleParts) {
  const { snapshots, catalogue } = sallyport.knowledge
  const { crawlerStatus = [] } = snapshots.current()
  return catalogue.crawlers.map(
    ({ slug, name, operator, purpose, tokens, silent, names, asns, agent, docs, ranges }) => ({
      ...{ slug, name, operator, purpose, tokens, silent, agent, docs },
      names: names.length,
      systems: [...asns],
      hasRanges: ranges !== undefined,
      /** State of each of its lists here. */
      lists: crawlerStatus.filter((status) => status.slug === slug).map(({ state, date }) => ({ state, date })),
    }),
  )
}

function recentOf({ history, sallyport }: ConsoleParts) {
  return history
    .recent()
    .filter(({ observed }) => observed.decision?.inspection.crawler !== undefined)
    .slice(-LISTED)
    .reverse()
    .map((one) => {
      const { slug, name, outcome, method, pending } = one.observed.decision?.inspection.crawler ?? {}
      return { ...briefOf(one, sallyport.config.log.addresses), crawler: { slug, name, outcome, method, pending } }
    })
}
