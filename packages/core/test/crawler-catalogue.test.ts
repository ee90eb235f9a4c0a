import { CRAWLERS, type CrawlerRow, DATED_EDGES, DATED_RANGES } from '@sallyport/data/crawlers'
import { SOURCES } from '@sallyport/data/sources'
import samples from 'crawler-user-agents'
import t from 'tap'
import { parseNamePattern } from '../src/crawler/name-pattern.ts'
import { compilePolicy, createCatalogue, formatPrefix, parsePrefix, reservedRow } from '../src/index.ts'
import { CRAWLER_PURPOSES } from '../src/vocabulary.ts'
import { agentInspector, makeRequest, RACK } from './agents.ts'
import { readShared, skipWithout, splitWords } from './support.ts'

const catalogue = createCatalogue()
const BROWSERS = 'user-agents/browsers.txt.gz'

t.test('every row is whole, and says no more than it can', async (t) => {
  t.ok(CRAWLERS.length >= 145)
  const faults = CRAWLERS.flatMap((row) => {
    const { slug, purpose, name, operator, asns = [], names = [], ranges, docs, agent } = row
    const checks: readonly (readonly [fault: string, holds: boolean])[] = [
      ['slug', /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)],
      ['purpose', CRAWLER_PURPOSES.includes(purpose)],
      ['name and operator', name !== '' && operator !== ''],
      ['exclusive systems are not named', row.exclusive !== true || asns.length > 0],
      ['undocumented names are not named', row.undocumented !== true || names.length > 0],
      ['sends nothing, and from somewhere', row.status === undefined || !(row.names ?? ranges ?? row.asns)],
      ['not a URL', [docs, agent].every((url) => url === undefined || /^https?:\/\/\S+$/.test(url))],
    ]
    return checks.filter(([, holds]) => !holds).map(([fault]) => `${slug}: ${fault}`)
  })
  t.same(faults, [])
})

/** Registered domains under which strangers get names for their machines: a name there proves nothing. */
const SHARED_DOMAINS = splitWords(`
  amazonaws.com googleusercontent.com cloudapp.net azure.com compute.internal linode.com linodeusercontent.com
  digitalocean.com vultrusercontent.com ovh.net ovh.ca your-server.de contaboserver.net scaleway.com
  oraclecloud.com alibabacloud.com myhuaweicloud.com cloudflare.com akamaitechnologies.com fastly.net
  hosted-by-vdsina.ru
`)

t.test('no reverse name is one that a customer of a cloud can have', async (t) => {
  const isRefused = (pattern: string) =>
    SHARED_DOMAINS.some((domain) => `.${domain}`.endsWith(parseNamePattern(pattern).end) || pattern.endsWith(domain))
  t.ok(isRefused('*.bc.googleusercontent.com') && isRefused('*.compute-1.amazonaws.com'), 'the test can fail')
  t.same(CRAWLERS.flatMap(({ names = [] }) => names).filter(isRefused), [])
  // A company whose staff and customers have names beside the crawler's asks for more than its domain.
  for (const domain of ['google.com', 'baidu.com', 'naver.com', 'msn.com']) {
    const bare = CRAWLERS.flatMap(({ names = [] }) => names).filter((name) => name === `*.${domain}`)
    t.same(bare, [], domain)
  }
})

t.test('the prefixes that come with it are public, exact, dated, and of lists that crawlers have', async (t) => {
  const lists = new Set(CRAWLERS.map(({ ranges }) => ranges))
  const isUsable = (text: string) => {
    const prefix = parsePrefix(text)
    if (prefix === undefined || formatPrefix(prefix) !== text) return false
    // The range must not be as wide as a continent.
    return reservedRow(prefix.address) === undefined && prefix.length >= (prefix.address.family === 4 ? 12 : 24)
  }
  const isDated = (date: string) => /^20\d\d-\d\d-\d\d$/.test(date)
  const wrong = DATED_RANGES.filter(({ id, date }) => !lists.has(id) || !isDated(date))
  t.same(wrong, [])
  const providers = SOURCES.filter(({ kind }) => kind === 'crawler').map(({ provider }) => provider)
  const odd = DATED_EDGES.filter(({ id, date }) => !providers.includes(id) || !isDated(date))
  t.same(odd, [])
  const prefixes = [...DATED_RANGES, ...DATED_EDGES].flatMap(({ prefixes }) => prefixes)
  t.ok(prefixes.every(isUsable))
  t.same(['66.249.64.1/19', '10.0.0.0/12', '66.0.0.0/8', '66.249.64.0/19'].map(isUsable), [false, false, false, true])
})

const claims: Readonly<Record<string, string | undefined>> = {
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)': 'googlebot',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)': 'gptbot',
  'Claude-User (claude-code/2.1.86; +https://support.anthropic.com/)': 'claude-code',
  'Mozilla/5.0 (Macintosh) Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0': 'imessage-preview',
  'facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984': 'kakaotalk-preview',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)': 'facebookexternalhit',
  'TelegramBot (like TwitterBot)': 'telegrambot',
  'Google-Extended': 'google-extended',
  'FreshRSS/1.11.2 (Linux; https://freshrss.org) like Googlebot': 'freshrss',
  'Overcast/1.0 Podcast Sync (12 subscribers; feed-id=4; +http://overcast.fm/)': 'overcast',
  'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)': undefined,
  'Mozilla/5.0 (compatible; s4a-probe-bot/1.0; Fake-Googlebot; +https://www.seo4ajax.com/webscraper)': undefined,
  'like Googlebot, but really Googlebot/2.1': 'googlebot',
  'NAVER(inapp; search; 2000; 12.10.4)': undefined,
  'Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]': undefined,
  'Mozilla/5.0 (Linux; Android 12; CUBOT X30) Chrome/99.0': undefined,
}

t.test('a user agent claims the crawler that it names, and no other', async (t) => {
  for (const [userAgent, slug] of Object.entries(claims)) t.equal(catalogue.findClaim(userAgent)?.slug, slug, userAgent)
  const text = 'like Googlebot '.repeat(2000)
  t.equal(catalogue.findClaim(text), undefined)
})

const instances = samples.flatMap(({ pattern, instances }) => instances.map((text) => ({ pattern, text })))

/** A word without case and punctuation: `Perplexity-User`, `PerplexityUser` and the pattern `Perplexity\\-User` are one. */
const plain = (text: string) => text.toLowerCase().replaceAll(/\\[bds]|[^a-z0-9]/g, '')

function listNamed(pattern: string): readonly CrawlerRow[] {
  return CRAWLERS.filter(({ slug, name, tokens }) =>
    [slug, name, ...tokens].some((word) => plain(word) === plain(pattern)),
  )
}

/** Samples in which another crawler is meant than the one that the list files them under, and why. */
const OTHERS_MEANT: Readonly<Record<string, string>> = {
  'Mozilla/5.0 (compatible; MSIE or Firefox mutant; not on Windows server;) Daumoa/4.0 (Following Mediapartners-Google)':
    'Daumoa, which obeys what is said to Google',
  'Mozilla/5.0 (compatible; Alexabot/1.0; +http://www.alexa.com/help/certifyscan; certifyscan@alexa.com)':
    'it fits the pattern `exabot`, and is another name',
  WhatsApp: 'a preview names its version: `WhatsApp/2`',
}

t.test('each of 2,118 samples filed under a crawler of ours claims it', async (t) => {
  t.equal(instances.length, 2118)
  const filed = instances.filter(({ pattern }) => listNamed(pattern).length > 0)
  t.ok(filed.length >= 330, `${filed.length} samples`)
  const unclaimed = filed.filter(({ pattern, text }) => {
    const operator = catalogue.findClaim(text)?.operator
    return !listNamed(pattern).some((row) => row.operator === operator) && !Object.hasOwn(OTHERS_MEANT, text)
  })
  t.same(unclaimed, [])
})

t.test('4,000 browsers claim nothing', { skip: skipWithout(BROWSERS) }, async (t) => {
  const browsers = readShared(BROWSERS).trim().split('\n')
  t.equal(browsers.length, 4000)
  const wrong = browsers.filter((userAgent) => catalogue.findClaim(userAgent) !== undefined)
  t.same(wrong, [])
})

t.test('feed readers and link previews are read as what they are, and never challenged', async (t) => {
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'protect-content', rules: [] }) })
  for (const [purpose, text] of [
    ['feed', 'Mozilla/5.0 (compatible; BazQux/2.4; +https://bazqux.com/fetcher; 3 subscribers)'],
    ['feed', 'Feedspot/1.0 (+https://www.feedspot.com/fs/fetcher; like FeedFetcher-Google)'],
    ['feed', 'Selfoss/2.19 (SimplePie/1.8.0; +https://selfoss.aditu.de)'],
    ['feed', 'Feeder / 1.10.8(88)'],
    ['preview', 'Mozilla/5.0 (compatible; ZulipURLPreview/9.0; +https://zulip.example)'],
    ['preview', 'Synapse (bot; +https://github.com/matrix-org/synapse)'],
    ['preview', 'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5'],
    ['preview', 'Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots'],
  ] as const) {
    const { action, inspection } = decide(makeRequest(['Host', 'a.example', 'User-Agent', text], { peer: RACK }))
    t.equal(inspection.crawler?.purpose, purpose, text)
    t.ok(['allow', 'flag'].includes(action), `${text}: ${action}`)
  }
})
