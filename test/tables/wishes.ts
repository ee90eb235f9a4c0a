import type { EventOutcome, InspectionRequest } from '@sallyport/core'

/** A wish that users of other gates wrote down, and our rules for it. */
export interface Wish {
  readonly wish: string
  /** Places where it was asked for, or who has it. */
  readonly from: string
  /** A file has such rules without the ID: `match: { … }, action: block`. */
  readonly rules: readonly string[]
  /** A request that the last rule decides, and one that none does. */
  readonly met: Asking
  readonly unmet: Asking
}

export interface Asking extends Partial<Omit<InspectionRequest, 'peer' | 'fields'>> {
  readonly peer: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Times that it comes; default 1. */
  readonly times?: number | undefined
  /** The application sends this status. */
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

/** Out of the issues that were read in November 2026. */
export const WISHES: readonly Wish[] = [
  {
    wish: 'allow feeds, within a limit',
    from: 'anubis#1737, #721; miniflux/v2#3340',
    rules: [
      'match: { path: [/feed/**, "/*/feed/**", "/*.rss"] }, limit: { key: client, max: 120, window: 1m }, then: allow, action: throttle',
    ],
    met: { peer: RACK, headers: CURL, target: '/blog/feed/' },
    unmet: { peer: RACK, headers: CURL, target: '/feedback' },
  },
  {
    wish: 'allow link previews',
    from: 'anubis#1060; bunkerweb#2693',
    rules: ['match: { purpose: [preview] }, action: allow, trustClaim: true'],
    met: { peer: RACK, headers: SLACK },
    unmet: { peer: RACK, headers: CURL },
  },
  {
    wish: 'block browsers by AS, country and version',
    from: 'bunkerweb#2573; lobsters#1781',
    rules: [
      `match: { asn: [24940], not: { country: [AT] }, userAgent: ['/(Chrome|Firefox)\\/1[0-2][0-9]\\./'] }, action: block`,
    ],
    met: { peer: RACK, headers: { 'User-Agent': AGENT } },
    unmet: { peer: RACK, headers: { 'User-Agent': AGENT.replaceAll('128', '150') } },
  },
  {
    wish: 'allow logged-in users',
    from: 'bunkerweb#3681',
    rules: ['match: { cookie: { session: ["*"] }, networkClass: [residential_clean, mobile] }, action: allow'],
    met: { peer: HOME, headers: { ...FIREFOX, Cookie: 'session=4f2a' } },
    unmet: { peer: RACK, headers: { ...FIREFOX, Cookie: 'session=4f2a' } },
  },
  {
    wish: 'allow verified bots',
    from: 'captcha-protect#81; crowdsec#4518',
    rules: ['match: { identity: ["*"] }, action: allow'],
    met: { peer: GOOGLE, headers: GOOGLEBOT },
    unmet: { peer: RACK, headers: GOOGLEBOT },
  },
  {
    wish: 'throttle under high load',
    from: 'anubis#1925',
    rules: [
      'match: { load: { atLeast: 0.8 }, networkClass: [hosting, datacenter] }, limit: { key: asn, max: 60, window: 1m }, action: throttle',
    ],
    met: { peer: RACK, headers: FIREFOX, load: 0.9, times: 61 },
    unmet: { peer: RACK, headers: FIREFOX, load: 0.2, times: 61 },
  },
  {
    wish: 'rate limit per client',
    from: 'anubis#102; captcha-protect',
    rules: ['match: {}, limit: { key: client, max: 60, window: 1m }, action: throttle'],
    met: { peer: HOME, headers: FIREFOX, times: 61 },
    unmet: { peer: HOME, headers: FIREFOX, times: 60 },
  },
  {
    wish: 'throttle residential botnets',
    from: 'anubis#1313; lobsters#1781',
    rules: ['match: { basis: [absence, contradiction] }, limit: { key: asn, max: 300, window: 1m }, action: throttle'],
    met: { peer: HOME, headers: BARE, times: 301, ...https },
    unmet: { peer: HOME, headers: FIREFOX, times: 301, ...https },
  },
  {
    wish: 'block servers at night',
    from: 'anubis#1225',
    rules: [
      'match: { time: { from: "22:00", to: "06:00", zone: Europe/Berlin }, networkClass: [hosting] }, action: block',
    ],
    met: { peer: RACK, headers: FIREFOX, at: '2026-11-26T23:00:00Z' },
    unmet: { peer: RACK, headers: FIREFOX, at: '2026-11-26T12:00:00Z' },
  },
  {
    wish: 'block servers of a country',
    from: 'anubis#1177, #206',
    rules: ['match: { country: [DE], networkClass: [hosting] }, action: block'],
    met: { peer: RACK, headers: FIREFOX },
    unmet: { peer: HOME, headers: FIREFOX },
  },
  {
    wish: 'allow by address, host, path and method',
    from: 'crowdsec-web-ui#394',
    rules: ['match: { address: [5.9.0.0/16], host: [shop.example], path: [/hooks/**], method: [POST] }, action: allow'],
    met: { peer: RACK, headers: { Host: 'shop.example', ...CURL }, target: '/hooks/paid', method: 'POST' },
    unmet: { peer: RACK, headers: { Host: 'shop.example', ...CURL }, target: '/hooks/paid' },
  },
  {
    wish: 'block bots on preview deployments',
    from: 'roast-my-post#372',
    rules: [
      'match: { host: ["*.preview.example"], class: [unverified_bot, ai_agent, verified_crawler] }, action: block',
    ],
    met: { peer: GOOGLE, headers: { Host: 'pr-7.preview.example', ...GOOGLEBOT } },
    unmet: { peer: HOME, headers: { Host: 'pr-7.preview.example', ...FIREFOX } },
  },
  {
    wish: 'throttle floods of AI training crawlers',
    from: 'ecocertain#147; osmapp#986',
    rules: ['match: { purpose: [training] }, limit: { key: operator, max: 60, window: 1m }, action: throttle'],
    met: { peer: HOME, headers: GPTBOT, times: 61 },
    unmet: { peer: HOME, headers: FIREFOX, times: 61 },
  },
  {
    wish: 'rate limit per user, not per shared address',
    from: 'ansvisor#537; suitenumerique/docs#2266',
    rules: ['match: { path: [/api/**] }, limit: { key: user, max: 100, window: 1m }, action: throttle'],
    met: { peer: PHONE, headers: FIREFOX, target: '/api/a', user: 'ada', times: 101 },
    unmet: { peer: PHONE, headers: FIREFOX, target: '/api/a', times: 101 },
  },
  {
    wish: 'block by the sum of weights',
    from: 'Anubis WEIGH, CrowdSec RequestScore',
    rules: [
      'match: { header: { absent: [accept-language] } }, action: flag, weight: 4',
      'match: { networkClass: [hosting, datacenter] }, action: flag, weight: 3',
      'match: { weight: { atLeast: 7 } }, action: block',
    ],
    met: { peer: RACK, headers: CURL },
    unmet: { peer: HOME, headers: FIREFOX },
  },
  {
    wish: 'block browsers with the TLS handshake of a program',
    from: 'Anubis and go-away (CEL), Arcjet filters',
    rules: ['match: { ja4: [program], userAgent: ["Mozilla/*"] }, action: block'],
    met: { peer: HOME, headers: FIREFOX, ja4: 't13d1812h1_85036bcba153_d41ae481755e' },
    unmet: { peer: HOME, headers: FIREFOX, ja4: 't13d1516h2_8daaf6152771_02713d6af862' },
  },
  {
    wish: 'block programs on servers',
    from: 'HN 44962529; webdecoy',
    rules: ['match: { class: [unverified_bot], networkClass: [hosting, datacenter] }, action: block'],
    met: { peer: RACK, headers: { 'User-Agent': 'Collector (research)' } },
    unmet: { peer: RACK, headers: FIREFOX },
  },
  {
    wish: 'block requests without a user agent',
    from: 'anubis#1933',
    rules: ['match: { header: { absent: [user-agent] } }, action: block'],
    met: { peer: HOME, headers: { Accept: '*/*' } },
    unmet: { peer: HOME, headers: FIREFOX },
  },
  {
    wish: 'block headless browsers',
    from: 'cap#37, #248; SafeLine#1111',
    rules: ['match: { headless: true }, action: block'],
    met: { peer: HOME, headers: { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/150.0.0.0' } },
    unmet: { peer: HOME, headers: FIREFOX },
  },
  {
    wish: 'block unknown countries',
    from: 'geoblock#9',
    rules: ['match: { country: [unknown], path: [/checkout/**] }, action: block'],
    met: { peer: '10.0.0.1', headers: FIREFOX, target: '/checkout/pay' },
    unmet: { peer: TOR, headers: FIREFOX, target: '/checkout/pay' },
  },
]
