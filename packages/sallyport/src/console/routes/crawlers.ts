import { type InspectedCrawler, parseAddress, SallyportError } from '@sallyport/core'
import { type Share, takeNewest } from '../shares/share.ts'
import { type Brief, toBrief } from './brief.ts'
import { type ConsoleParts, get, post } from './route.ts'

const LISTED = 60

/** Lists the last requests that name a crawler. */
const CLAIMED: Share<object, readonly Claimed[]> = {
  name: 'claimed',
  own: (_, { history, sallyport }) =>
    history.recent
      .list()
      .flatMap((one) => {
        const claim = one.decision?.inspection.crawler
        return claim === undefined ? [] : [{ one, claim }]
      })
      .slice(-LISTED)
      .map(({ one, claim }) => describeClaim(toBrief(one, sallyport.config.log.addresses), claim)),
}

type Claimed = ReturnType<typeof describeClaim>

function describeClaim(brief: Brief, { slug, name, outcome, method, pending }: InspectedCrawler) {
  return { ...brief, crawler: { slug, name, outcome, method, pending } }
}

/** Serves the catalogue, the checks of each crawler, and the requests in their names. */
export const CRAWLER_ROWS = [
  get('crawlers', { shares: [CLAIMED] }, async (_, parts) => {
    const { shares } = await parts.gather(CLAIMED, {})
    return { crawlers: listCatalogue(parts), recent: takeNewest(shares, LISTED) }
  }),
  post('crawlers/verify', { role: 'read', takes: ['ip', 'bot', 'userAgent'] }, async ({ asked }, { sallyport }) => {
    const { ip = '', bot, userAgent } = asked
    const address = parseAddress(ip)
    if (address === undefined) throw new SallyportError('invalid_ip')
    return sallyport.knowledge.crawlers.verify(address, { bot: bot || undefined, userAgent: userAgent || undefined })
  }),
]

function listCatalogue({ sallyport }: ConsoleParts) {
  const { snapshots, catalogue } = sallyport.knowledge
  const { crawlerStatus = [] } = snapshots.current()
  return catalogue.crawlers.map(
    ({ slug, name, operator, purpose, tokens, silent, names, asns, agent, docs, ranges }) => ({
      slug,
      name,
      operator,
      purpose,
      tokens,
      silent,
      agent,
      docs,
      names: names.length,
      systems: [...asns],
      hasRanges: ranges !== undefined,
      /** Holds the state of each of the crawler's lists here. */
      lists: crawlerStatus.filter((status) => status.slug === slug).map(({ state, date }) => ({ state, date })),
    }),
  )
}
