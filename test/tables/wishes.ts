import type { EventOutcome, InspectionRequest } from '@sallyport/core'

/** A wish that users of other gates wrote down, and our rules for it. */
export interface Wish {
  readonly wish: string
  /** A file has such rules without the ID: `match: { … }, action: block`. */
  readonly rules: readonly string[]
  /** A request that the last rule decides, and one that none does. */
  readonly met: Asking
  readonly unmet: Asking
}

export interface Asking extends Partial<Omit<InspectionRequest, 'peer' | 'fields'>> {
  readonly peer: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly times?: number | undefined
  readonly status?: number | undefined
  readonly at?: string | undefined
  readonly load?: number | undefined
  /** Outcome of a login of one account, which is judged in place of its request. */
  readonly login?: EventOutcome | undefined
}

export const HOME = '73.162.10.20'
export const RACK = '5.9.10.20'
export const TOR = '185.220.101.10'
export const GOOGLE = '66.249.66.1'
const PHONE = '172.58.10.20'
export const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const CURL = { 'User-Agent': 'curl/8.5.0' }
const GPTBOT = { 'User-Agent': 'GPTBot/1.2' }
const SLACK = { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
export const GOOGLEBOT = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
export const FIREFOX = {
  'User-Agent': AGENT,
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language': 'en-US,en;q=0.5',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
}
const BARE = { 'User-Agent': AGENT }
export const https = { scheme: 'https' } as const

function send(peer: string, headers: Asking['headers'], more: Partial<Asking> = {}): Asking {
  return { peer, headers, ...more }
}

function wishFor(wish: string, rules: string | readonly string[], met: Asking, unmet: Asking): Wish {
  return { wish, rules: [rules].flat(), met, unmet }
}

/** Lists wishes out of issues of other gates that were read in November 2026. */
export const WISHES: readonly Wish[] = [
  wishFor(
    'allow feeds, within a limit',
    'match: { path: [/feed/**, "/*/feed/**", "/*.rss"] }, limit: { key: client, max: 120, window: 1m }, then: allow, action: throttle',
    send(RACK, CURL, { target: '/blog/feed/' }),
    send(RACK, CURL, { target: '/feedback' }),
  ),
  wishFor(
    'allow link previews',
    'match: { purpose: [preview] }, action: allow, trustClaim: true',
    send(RACK, SLACK),
    send(RACK, CURL),
  ),
  wishFor(
    'block browsers by AS, country and version',
    `match: { asn: [24940], not: { country: [AT] }, userAgent: ['/(Chrome|Firefox)\\/1[0-2][0-9]\\./'] }, action: block`,
    send(RACK, { 'User-Agent': AGENT }),
    send(RACK, { 'User-Agent': AGENT.replaceAll('128', '150') }),
  ),
  wishFor(
    'allow logged-in users',
    'match: { cookie: { session: ["*"] }, networkClass: [residential_clean, mobile] }, action: allow',
    send(HOME, { ...FIREFOX, Cookie: 'session=4f2a' }),
    send(RACK, { ...FIREFOX, Cookie: 'session=4f2a' }),
  ),
  wishFor(
    'allow verified bots',
    'match: { identity: ["*"] }, action: allow',
    send(GOOGLE, GOOGLEBOT),
    send(RACK, GOOGLEBOT),
  ),
  wishFor(
    'throttle under high load',
    'match: { load: { atLeast: 0.8 }, networkClass: [hosting, datacenter] }, limit: { key: asn, max: 60, window: 1m }, action: throttle',
    send(RACK, FIREFOX, { load: 0.9, times: 61 }),
    send(RACK, FIREFOX, { load: 0.2, times: 61 }),
  ),
  wishFor(
    'rate limit per client',
    'match: {}, limit: { key: client, max: 60, window: 1m }, action: throttle',
    send(HOME, FIREFOX, { times: 61 }),
    send(HOME, FIREFOX, { times: 60 }),
  ),
  wishFor(
    'throttle residential botnets',
    'match: { basis: [absence, contradiction] }, limit: { key: asn, max: 300, window: 1m }, action: throttle',
    send(HOME, BARE, { times: 301, ...https }),
    send(HOME, FIREFOX, { times: 301, ...https }),
  ),
  wishFor(
    'block servers at night',
    'match: { time: { from: "22:00", to: "06:00", zone: Europe/Berlin }, networkClass: [hosting] }, action: block',
    send(RACK, FIREFOX, { at: '2026-11-26T23:00:00Z' }),
    send(RACK, FIREFOX, { at: '2026-11-26T12:00:00Z' }),
  ),
  wishFor(
    'block servers of a country',
    'match: { country: [DE], networkClass: [hosting] }, action: block',
    send(RACK, FIREFOX),
    send(HOME, FIREFOX),
  ),
  wishFor(
    'allow by address, host, path and method',
    'match: { address: [5.9.0.0/16], host: [shop.example], path: [/hooks/**], method: [POST] }, action: allow',
    send(RACK, { Host: 'shop.example', ...CURL }, { target: '/hooks/paid', method: 'POST' }),
    send(RACK, { Host: 'shop.example', ...CURL }, { target: '/hooks/paid' }),
  ),
  wishFor(
    'block bots on preview deployments',
    'match: { host: ["*.preview.example"], class: [unverified_bot, ai_agent, verified_crawler] }, action: block',
    send(GOOGLE, { Host: 'pr-7.preview.example', ...GOOGLEBOT }),
    send(HOME, { Host: 'pr-7.preview.example', ...FIREFOX }),
  ),
  wishFor(
    'throttle floods of AI training crawlers',
    'match: { purpose: [training] }, limit: { key: operator, max: 60, window: 1m }, action: throttle',
    send(HOME, GPTBOT, { times: 61 }),
    send(HOME, FIREFOX, { times: 61 }),
  ),
  wishFor(
    'rate limit per user, not per shared address',
    'match: { path: [/api/**] }, limit: { key: user, max: 100, window: 1m }, action: throttle',
    send(PHONE, FIREFOX, { target: '/api/a', user: 'ada', times: 101 }),
    send(PHONE, FIREFOX, { target: '/api/a', times: 101 }),
  ),
  wishFor(
    'block by the sum of weights',
    [
      'match: { header: { absent: [accept-language] } }, action: flag, weight: 4',
      'match: { networkClass: [hosting, datacenter] }, action: flag, weight: 3',
      'match: { weight: { atLeast: 7 } }, action: block',
    ],
    send(RACK, CURL),
    send(HOME, FIREFOX),
  ),
  wishFor(
    'block browsers with the TLS handshake of a program',
    'match: { ja4: [program], userAgent: ["Mozilla/*"] }, action: block',
    send(HOME, FIREFOX, { ja4: 't13d1812h1_85036bcba153_d41ae481755e' }),
    send(HOME, FIREFOX, { ja4: 't13d1516h2_8daaf6152771_02713d6af862' }),
  ),
  wishFor(
    'block programs on servers',
    'match: { class: [unverified_bot], networkClass: [hosting, datacenter] }, action: block',
    send(RACK, { 'User-Agent': 'Collector (research)' }),
    send(RACK, FIREFOX),
  ),
  wishFor(
    'block requests without a user agent',
    'match: { header: { absent: [user-agent] } }, action: block',
    send(HOME, { Accept: '*/*' }),
    send(HOME, FIREFOX),
  ),
  wishFor(
    'block headless browsers',
    'match: { headless: true }, action: block',
    send(HOME, { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/150.0.0.0' }),
    send(HOME, FIREFOX),
  ),
  wishFor(
    'block unknown countries',
    'match: { country: [unknown], path: [/checkout/**] }, action: block',
    send('10.0.0.1', FIREFOX, { target: '/checkout/pay' }),
    send(TOR, FIREFOX, { target: '/checkout/pay' }),
  ),
]
