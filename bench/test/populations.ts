import type { InspectionRequest, NetworkClass } from '@sallyport/core'
import { labelledAddresses, readShared, sharedLines } from '../accuracy/shared.ts'

export interface Coming {
  readonly second: number
  readonly request: InspectionRequest
}

type Headers = Readonly<Record<string, string>>

/** Visitors of one kind come within two minutes. */
const SPAN_MINUTES = 2
const USER_AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

const CHROME: Headers = {
  Host: 'example.com',
  Connection: 'keep-alive',
  'sec-ch-ua': '"Chromium";v="150", "Google Chrome";v="150", "Not.A/Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
  'User-Agent': USER_AGENT,
}
const PAGE: Headers = {
  ...CHROME,
  'Upgrade-Insecure-Requests': '1',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
  'Sec-Fetch-Site': 'none',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-User': '?1',
  'Sec-Fetch-Dest': 'document',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9',
}
const SCRIPT: Headers = {
  ...CHROME,
  Accept: '*/*',
  'Sec-Fetch-Site': 'same-origin',
  'Sec-Fetch-Mode': 'no-cors',
  'Sec-Fetch-Dest': 'script',
  Referer: 'https://example.com/',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9',
}
const COPY: Headers = { Host: 'example.com', 'User-Agent': USER_AGENT, Accept: '*/*' }

function writeAgent(userAgent: string): Headers {
  return { Host: 'example.com', 'User-Agent': userAgent, Accept: '*/*' }
}

/** Each visitor sends `times` requests, evenly, and begins at another second. */
function visits(
  visitors: readonly { readonly peer: string; readonly headers: Headers }[],
  times: number,
  about: Partial<InspectionRequest> = {},
  minutes = SPAN_MINUTES,
): readonly Coming[] {
  const step = (60 * minutes) / times
  const coming = visitors.flatMap(({ peer, headers }, at) => {
    const fields = Object.entries(headers).flat()
    return Array.from({ length: times }, (_, time): Coming => {
      const target = `/articles/${at}-${time}`
      const request = { peer, method: 'GET', target, scheme: 'https', httpVersion: '1.1', fields, ...about } as const
      return { second: (time + at / visitors.length) * step, request }
    })
  })
  return coming.toSorted((one, other) => one.second - other.second)
}

/** People who read so many pages a minute, and load twenty-five files for each. */
function readPages(peers: readonly string[], pages: number, minutes = SPAN_MINUTES): readonly Coming[] {
  const people = (headers: Headers) => peers.map((peer) => ({ peer, headers }))
  const visitAs = (headers: Headers, each: number, about: Partial<InspectionRequest> = {}) =>
    visits(people(headers), pages * minutes * each, about, minutes)
  return [...visitAs(PAGE, 1), ...visitAs(SCRIPT, 25, { target: '/assets/shop.js' })].toSorted(
    (one, other) => one.second - other.second,
  )
}

/** People with browsers, six pages a minute each, and one a minute where hundreds share an address. */
export function listPeople(minutes: number): Readonly<Record<string, readonly Coming[]>> {
  const home = listAddresses('residential_clean', 40)
  const [[office = ''], [phone = '']] = [home, listAddresses('mobile', 1)]
  const many = (count: number, peer: string) => Array.from({ length: count }, () => peer)
  return {
    'people at home': readPages(home, 6, minutes),
    'an office of 40 behind one address': readPages(many(40, office), 6, minutes),
    "400 people behind a carrier's address": readPages(many(400, phone), 1, minutes),
  }
}

function listAddresses(label: NetworkClass, count: number): readonly string[] {
  return labelledAddresses()
    .filter((one) => one.label === label && !one.address.includes(':'))
    .slice(0, count)
    .map(({ address }) => address)
}

interface KnownBot {
  readonly categories: readonly string[]
  readonly instances: { readonly accepted?: readonly string[] | undefined }
}

function listBots(category: string): readonly string[] {
  const bots: readonly KnownBot[] = JSON.parse(readShared('crawlers/well-known-bots.json.gz'))
  return bots.flatMap(({ categories, instances }) =>
    categories.includes(category) ? (instances.accepted ?? []).slice(0, 1) : [],
  )
}

interface Ranges {
  readonly services: Readonly<Record<string, { user_agent_patterns: readonly string[]; ipv4: readonly string[] }>>
}

function readPublished(file: string): readonly { readonly peer: string; readonly headers: Headers }[] {
  const { services }: Ranges = JSON.parse(readShared(file))
  return Object.values(services).map(({ user_agent_patterns: [pattern = ''], ipv4: [range = ''] }) => ({
    peer: range.replace(/\/\d+$/, ''),
    headers: writeAgent(`Mozilla/5.0 (compatible; ${pattern.replaceAll('*', '')}/2.0; +https://example.org/bot)`),
  }))
}

/** Real addresses, user agents and headers, and how often such visitors come. */
export function populations(): Readonly<Record<string, readonly Coming[]>> {
  const home = listAddresses('residential_clean', 400)
  const [hosting, proxied] = [listAddresses('hosting', 400), listAddresses('residential_proxy', 1_000)]
  const servers = [...hosting, ...listAddresses('datacenter', 400)]
  const [office = ''] = home
  const hidden = [...listAddresses('vpn', 100), ...listAddresses('tor', 100)]
  const each = (peers: readonly string[], texts: readonly string[]) =>
    peers.map((peer, at) => ({ peer, headers: writeAgent(texts[at % texts.length] ?? '') }))
  const from = (texts: readonly string[]) => each(servers.slice(0, texts.length), texts)
  const whole = (peers: readonly string[]) => peers.map((peer) => ({ peer, headers: PAGE }))
  const browsers = sharedLines('user-agents/browsers.txt.gz')
  const ordinary = (userAgent: string): Headers => ({
    ...writeAgent(userAgent),
    Accept: 'text/html,*/*;q=0.8',
    'Accept-Language': 'en',
    'Accept-Encoding': 'gzip, deflate',
  })
  const libraries = ['python-requests/2.32.3', 'curl/8.5.0', 'Go-http-client/2.0', 'Scrapy/2.11 (+https://scrapy.org)']
  const unnamed = ['MyHarvester/1.0', 'Collector (research)', 'acme-fetch/3']
  const readers = browsers.map((text, at) => ({ peer: home[at % home.length] ?? '', headers: ordinary(text) }))
  return {
    ...listPeople(SPAN_MINUTES),
    '4,000 user agents of browsers at home': visits(readers, 1, { scheme: 'http' }),
    'people behind VPNs and Tor': readPages(hidden, 1),
    'crawlers at published addresses': visits(readPublished('crawlers/ipverse-crawlers.json'), 10),
    'monitors at published addresses': visits(readPublished('crawlers/ipverse-monitoring.json'), 10),
    'monitors elsewhere': visits(from(listBots('monitor')), 4),
    'previews elsewhere': visits(from(listBots('preview')), 4),
    'readers of feeds': visits(from(listBots('feedfetcher')), 4, { target: '/blog/feed/' }),
    webhooks: visits(each(servers.slice(0, 20), libraries), 20, { method: 'POST' }),
    'libraries on servers': visits(each(servers, libraries), 10),
    'made-up names on servers': visits(each(servers, unnamed), 10),
    'named AI crawlers on servers': visits(each(servers, listBots('ai')), 10),
    'copies of Chrome through proxies': visits(each(proxied, [USER_AGENT]), 12),
    'one copy of Chrome at home': visits([{ peer: office, headers: COPY }], 3_000),
    'whole Chromes on servers': visits(whole(servers), 12),
    'whole Chromes through proxies': visits(whole(proxied), 12),
  }
}
