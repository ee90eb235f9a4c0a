import { open } from '@sallyport/engine'
import samples from 'crawler-user-agents'
import { isbot } from 'isbot'
import { makeRequest } from '../browser.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { sharedLines } from './shared.ts'

const BROWSERS = 'user-agents/browsers.txt.gz'
/** Browsers and careful programs send these headers beside their user agent. */
const FIELDS = ['Accept', 'text/html,*/*;q=0.8', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']

/** Counts the crawlers and the browsers that each judge takes for programs, by user agent: the peer reads nothing else. */
export async function compareUserAgents(run: Run): Promise<void> {
  const sallyport = await open({ data: { refresh: false } })
  const judges: Readonly<Record<string, (userAgent: string) => boolean>> = {
    Sallyport: (userAgent) =>
      sallyport.inspect(
        makeRequest({ peer: '8.8.8.8', fields: ['Host', 'example.com', 'User-Agent', userAgent, ...FIELDS] }),
      ).agent.class !== 'human',
    '`isbot`': isbot,
  }
  const lists = { crawlers: samples.flatMap(({ instances }) => instances), browsers: sharedLines(BROWSERS) }
  const figures = Object.entries(judges).flatMap(([name, isBot]) =>
    Object.entries(lists).map(([list, all]): Figure => {
      const texts = all.slice(0, run.pick(all.length, 50))
      const value = counted((100 * texts.filter(isBot).length) / texts.length)
      return { case: name, what: `of ${texts.length.toLocaleString('en')} ${list}`, unit: '%', value }
    }),
  )
  run.table({ title: 'Taken for a program, by user agent', figures })
  await sallyport.close()
}
