import { parseAddress, SallyportError } from '@sallyport/core'
import type { Share } from '../shares/share.ts'
import { type Brief, briefOf } from './brief.ts'
import { newestOf } from './newest.ts'
import type { ConsoleParts, Row } from './route.ts'
import { TOPS, topsOf } from './tops.ts'
import { mapOf, memberOf } from './values.ts'

const LISTED = 60

/** The last requests in the name of a crawler. */
const CLAIMED: Share<object, readonly Brief[]> = {
  name: 'claimed',
  own: (_, { history, sallyport }) =>
    history.recent
      .list()
      .filter(({ observed }) => observed.decision?.inspection.crawler !== undefined)
      .slice(-LISTED)
      .map((one) => {
        const { slug, name, outcome, method, pending } = one.observed.decision?.inspection.crawler ?? {}
        return { ...briefOf(one, sallyport.config.log.addresses), crawler: { slug, name, outcome, method, pending } }
      }),
}

/** The catalogue, how each can be verified, and who came in these names. */
export const CRAWLER_ROWS: readonly Row[] = [
  {
    method: 'GET',
    path: 'crawlers',
    role: 'read',
    shares: [TOPS, CLAIMED],
    async answer({ now }, parts) {
      const { gather } = parts
      const [{ crawlers: seen }, { shares }] = await Promise.all([
        topsOf(gather, { limits: { crawlers: 300 }, now, hours: 24 }),
        gather(CLAIMED, {}),
      ])
      return { crawlers: catalogueOf(parts), seen, recent: newestOf(shares, LISTED) }
    },
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
