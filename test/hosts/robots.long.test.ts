import { createRequire } from 'node:module'
import {
  type Crawler,
  compilePolicy,
  createCatalogue,
  createCrawlerVerifier,
  createReverseChecks,
  formatAddress,
  type NameAnswer,
  type Policy,
  type Prefix,
  parseAddress,
  parsePrefix,
  type ReverseAnswer,
  refuses,
  writeRobots,
} from '@sallyport/core'
import {
  createCrawlerRanges,
  createFakeClock,
  createFakeDns,
  createFakeNetworks,
  makeSnapshots,
  makeSystem,
} from '@sallyport/core/testing'
import { open, writeConfigRobots } from '@sallyport/engine'
import t from 'tap'
import { request } from 'undici'
import { makeInspector } from '../inspector.ts'
import { NO_DATA } from '../no-data.ts'
import { startProxy } from './proxy.ts'

/*
 * The rules of robots.txt are those enforced: an independent reader of the file and the inspection of real requests
 * agree about every crawler of the catalogue, each of which comes from an address by which its operator can be known.
 */
const catalogue = createCatalogue()
const SENDING = catalogue.crawlers.filter(({ silent, tokens }) => silent === undefined && tokens.length > 0)
const ADDRESSES = new Map(SENDING.map((crawler, index) => [crawler, `8.${1 + (index >> 8)}.${index & 255}.1`]))
/** Previews of messengers show themselves by the token of another crawler, and no group can name the last, whose token is a sentence. */
const UNFIT = new Set(['imessage-preview', 'line-preview', 'kakaotalk-preview', 'paloalto-xpanse'])
/** A signature alone proves some crawlers, and their keys are not here. */
const isProvenByAddress = ({ agent, ranges, names, exclusive }: Crawler): boolean =>
  agent === undefined || ranges !== undefined || names.length > 0 || exclusive
const findAddress = (crawler: Crawler): string => ADDRESSES.get(crawler) ?? '8.9.9.9'

/** A made internet in which every crawler can be proven by the way that its operator publishes. */
function madeInternet() {
  const lists = new Map<string, Prefix[]>()
  const names: Record<string, NameAnswer> = {}
  const reverse: Record<string, ReverseAnswer> = {}
  for (const [crawler, text] of ADDRESSES) {
    const address = parseAddress(text)
    const prefix = parsePrefix(`${text}/32`)
    if (address === undefined || prefix === undefined) throw new TypeError(text)
    if (crawler.ranges !== undefined) lists.set(crawler.ranges, [...(lists.get(crawler.ranges) ?? []), prefix])
    const [pattern] = crawler.names
    if (pattern === undefined) continue
    const name = `${pattern.start}host${pattern.end}`
    const known = names[name]
    names[name] = { state: 'found', addresses: [...(known?.state === 'found' ? known.addresses : []), address] }
    reverse[formatAddress(address)] = { state: 'found', names: [name] }
  }
  const networks = [...ADDRESSES].map(([{ asns, systems = [] }, text]) => {
    const [asn = 64_500] = [...asns, ...systems]
    return [`${text}/32`, { system: makeSystem({ asn, type: 'hosting', networkClass: 'datacenter' }) }] as const
  })
  const ranges = [...lists].map(([slug, prefixes]) => ({ slug, state: 'fresh' as const, date: '2026-11-20', prefixes }))
  return {
    dns: createFakeDns(names, reverse),
    snapshots: makeSnapshots({
      networks: createFakeNetworks(networks),
      ...createCrawlerRanges(ranges),
      rangesLoaded: true,
    }),
  }
}

/** Its types describe an ES module, which it is not. */
const robotsParser: (url: string, text: string) => { isDisallowed(url: string, token?: string): boolean | undefined } =
  createRequire(import.meta.url)('robots-parser')

const internet = madeInternet()

function createTestInspector(policy: Policy, mode: 'enforce' | 'monitor' = 'enforce') {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const crawlers = createCrawlerVerifier(catalogue, { reverse: createReverseChecks({ clock, dns: internet.dns }) })
  const { snapshots } = internet
  return makeInspector(policy, { clock, snapshots, crawlers, mode })
}

const PATHS = `/ /index.html /admin /admin/ /admin/users /admin/public /admin/public/page /administrator /login /login/
/login/form /shop /shop/cart /shop/a.b/c /caf%C3%A9 /caf%C3%A9/menu /a$b /admin?x=1 /login?x=1 /shop/cart?x=/admin`.split(
  /\s/,
)

const block = { action: 'block' } as const
const POLICIES: Readonly<Record<string, Policy>> = {
  'protect-content': { preset: 'protect-content', rules: [] },
  'low-friction': { preset: 'low-friction', rules: [] },
  'agents-welcome': { preset: 'agents-welcome', rules: [] },
  'an area for nobody': { preset: 'low-friction', rules: [{ id: 'a', match: { path: ['/admin/**'] }, ...block }] },
  'a page in a closed area': {
    preset: 'low-friction',
    rules: [
      { id: 'a', match: { path: ['/admin/public/**', '/login'], identity: ['*'] }, action: 'allow' },
      { id: 'b', match: { path: ['/admin/**', '/login', '/caf%C3%A9/**', '/a$b'] }, ...block },
      { id: 'c', match: { path: ['/shop/**'], purpose: ['training', 'seo'] }, ...block },
    ],
  },
  'by operator, vendor, slug and class': {
    preset: 'observe',
    rules: [
      { id: 'a', match: { operator: ['Google'], path: ['/shop'] }, action: 'flag' },
      { id: 'b', match: { vendor: ['openai'] }, ...block },
      { id: 'c', match: { crawler: ['googlebot', 'bingbot', 'ccbot'], path: ['/shop/**'] }, ...block },
      { id: 'd', match: { class: ['unverified_bot'] }, ...block },
    ],
  },
  'nobody but search': {
    preset: 'observe',
    rules: [{ id: 'a', match: { purpose: ['search'] }, action: 'allow' }],
    default: 'block',
  },
  'posts alone': { preset: 'observe', rules: [{ id: 'a', match: { method: ['POST'], path: ['/login'] }, ...block }] },
  'limits and trials': {
    preset: 'observe',
    limits: ['polite-crawlers'],
    rules: [
      { id: 'a', match: {}, monitor: true, ...block },
      { id: 'b', match: { path: ['/shop'] }, limit: { key: 'client', max: 1, window: '1m' }, ...block },
    ],
  },
}

/** Rules of presets about networks and browsers. */
const NOT_OF_CRAWLERS: readonly string[] =
  'contradicted contradicted-twice mixed infrastructure doubtful servers'.split(' ')

for (const [name, policy] of Object.entries(POLICIES)) {
  t.test(`announced and enforced: ${name}`, async (t) => {
    const { text, unspoken } = writeRobots({ parts: [{ policy: compilePolicy(policy), mode: 'enforce' }], catalogue })
    t.strictSame(
      unspoken.filter((id) => !NOT_OF_CRAWLERS.includes(id)),
      [],
      'all of it can be said',
    )
    const robots = robotsParser('https://site.example/robots.txt', text)
    const inspector = createTestInspector(policy)
    const different: string[] = []
    for (const crawler of SENDING) {
      if (UNFIT.has(crawler.slug) || !isProvenByAddress(crawler)) continue
      const address = parseAddress(findAddress(crawler))
      if (address === undefined) throw new TypeError(crawler.slug)
      for (const [index, path] of PATHS.entries()) {
        const [token = ''] = crawler.tokens
        const fields = ['User-Agent', `Mozilla/5.0 (compatible; ${token}${token.endsWith('/') ? '' : '/'}1.0)`]
        const described = { fields, headersKnown: false, method: 'GET', target: path }
        const { action, inspection } = await inspector.check(address, described)
        const provable = crawler.ranges !== undefined || crawler.names.length > 0 || crawler.exclusive
        if (index === 0) t.equal(inspection.crawler?.outcome, provable ? 'verified' : 'unverifiable', crawler.slug)
        const announced = robots.isDisallowed(`https://site.example${path}`, token.split('/', 1)[0])
        if (announced !== refuses(action)) different.push(`${crawler.slug} ${path}: ${action}`)
      }
    }
    t.strictSame(different, [])
  })
}

const writeText = (policy: Policy, options = {}): string =>
  writeRobots({ parts: [{ policy: compilePolicy(policy), mode: 'enforce' }], ...options }).text

t.test('a crawler that no catalogue has follows the last group', async (t) => {
  const policy: Policy = {
    preset: 'observe',
    rules: [{ id: 'a', match: { class: ['unverified_bot'], path: ['/shop/**'] }, action: 'block' }],
  }
  const robots = robotsParser('https://site.example/robots.txt', writeText(policy))
  t.equal(robots.isDisallowed('https://site.example/shop/1', 'NeverHeardOf'), true)
  t.equal(robots.isDisallowed('https://site.example/', 'NeverHeardOf'), false)
  t.equal(robots.isDisallowed('https://site.example/shop/1', 'Googlebot'), false)
  const address = parseAddress('9.9.9.9')
  if (address === undefined) throw new TypeError()
  const fields = ['User-Agent', 'NeverHeardOf/1.0 (+https://never.example)']
  const described = { fields, headersKnown: false, target: '/shop/1' }
  t.equal((await createTestInspector(policy).check(address, described)).action, 'block')
})

t.test('tokens that control a use are named, and those that are gone are not', async (t) => {
  const text = writeText({ preset: 'protect-content', rules: [] })
  const robots = robotsParser('https://site.example/robots.txt', text)
  t.equal(robots.isDisallowed('https://site.example/', 'Google-Extended'), true)
  t.equal(robots.isDisallowed('https://site.example/', 'Googlebot'), false)
  t.notMatch(text, /anthropic-ai/)
})

t.test('rules that robots.txt cannot say', async (t) => {
  const rules = [
    { id: 'country', match: { country: ['KP'] }, action: 'block' },
    { id: 'star', match: { path: ['/a/*/edit', '/closed'] }, action: 'block' },
    { id: 'night', match: { time: { from: '22:00', to: '06:00' } }, action: 'block' },
    { id: 'noted', match: { networkClass: ['vpn'] }, action: 'flag' },
    { id: 'tried', match: { country: ['CN'] }, action: 'block', monitor: true },
  ] as const
  const { text, unspoken } = writeRobots({
    parts: [{ policy: compilePolicy({ preset: 'observe', rules }), mode: 'enforce' }],
  })
  t.strictSame(unspoken, ['country', 'star', 'night'])
  t.match(text, /User-agent: \*\nDisallow: \/closed\$\nDisallow: \/closed\?\n/)
  t.notMatch(text, /edit|country|night|star/, 'and names no rule')
})

t.test('parts of a site, each with rules of its own', async (t) => {
  const closed = compilePolicy({ preset: 'observe', rules: [], default: 'block' })
  const open = compilePolicy({ preset: 'observe', rules: [{ id: 'a', match: { path: ['/x/**'] }, action: 'block' }] })
  const { text } = writeRobots({
    parts: [
      { path: '/internal', policy: closed, mode: 'enforce' },
      { path: '/internal/tried', policy: closed, mode: 'monitor' },
      { policy: open, mode: 'enforce' },
    ],
  })
  const robots = robotsParser('https://site.example/robots.txt', text)
  const isDisallowed = (path: string) => robots.isDisallowed(`https://site.example${path}`, 'AnyBot')
  t.same(['/x/1', '/internal', '/internal/1', '/internal/x/1'].map(isDisallowed), Array(4).fill(true))
  t.same(['/', '/internals', '/internal/tried', '/internal/tried/x'].map(isDisallowed), Array(4).fill(false))
})

t.test('signals', async (t) => {
  const open: Policy = { preset: 'observe', rules: [] }
  const text = writeText(open, { sitemaps: ['https://a.example/s.xml'] })
  t.match(text, /^# Made.*\n\nUser-agent: \*\nAllow: \/\n/, 'nothing is granted that nobody wrote')
  t.match(text, /\n\nSitemap: https:\/\/a\.example\/s\.xml\n$/)
  const protecting: Policy = { preset: 'protect-content', rules: [] }
  t.match(writeText(protecting), 'User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=n\n')
  const monitored = writeRobots({ parts: [{ policy: compilePolicy(protecting), mode: 'monitor' }] })
  t.notMatch(monitored.text, /Disallow|Content-/, 'nobody is refused in monitor mode')
})

t.test('the proxy answers /robots.txt for each of its sites, to everybody', async (t) => {
  const gate = {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    dataDir: t.testdir(),
    data: { refresh: false, sources: NO_DATA },
    robots: { serve: true },
    policy: { preset: 'observe' as const, rules: [{ id: 'none', match: {}, action: 'block' as const }] },
    routes: [
      { host: 'open.example', policy: { preset: 'observe' as const } },
      { host: 'open.example', path: '/closed', policy: { preset: 'observe' as const, default: 'block' as const } },
      { host: '*.shut.example' },
    ],
  }
  const sallyport = await open(gate)
  t.teardown(() => sallyport.close())
  const proxyOptions = () => ({ ...sallyport.config, tls: undefined })
  const proxy = await startProxy(t, sallyport, proxyOptions())
  const ask = async (host: string, path = '/robots.txt', method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const { statusCode, headers, body } = await request(`${proxy.url}${path}`, { method, headers: { host } })
    return { status: statusCode, headers, text: await body.text() }
  }
  t.match(await ask('open.example'), {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-request-id': String },
    text: /User-agent: \*\nDisallow: \/closed\$\nDisallow: \/closed\?\nDisallow: \/closed\/\n$/,
  })
  t.match(await ask('a.shut.example', '/robots.txt?x'), { status: 200, text: /User-agent: \*\nDisallow: \/\n$/ })
  t.match(await ask('b.shut.example'), { status: 200, text: /Disallow: \/\n$/ })
  t.match(await ask('a.shut.example', '/robots.txt', 'HEAD'), { status: 200, text: '' })
  t.equal((await ask('a.shut.example', '/robots.txt', 'POST')).status, 403, 'a method that is for the origin')
  t.equal((await ask('a.shut.example', '/robots.txt2')).status, 403)
  t.equal((await ask('other.example')).status, 421)
  t.equal(sallyport.robots(), writeConfigRobots(sallyport.config).text)

  const robots = { serve: true, sitemaps: ['https://a.example/map.xml'] }
  await sallyport.reload({ ...gate, policy: { preset: 'observe' }, robots })
  await proxy.reload(proxyOptions())
  t.match(await ask('a.shut.example'), {
    text: /User-agent: \*\nAllow: \/\n\nSitemap: https:\/\/a\.example\/map\.xml\n$/,
  })
  await proxy.reload({ ...proxyOptions(), robots: { serve: false } })
  t.equal((await ask('a.shut.example')).status, 404, 'it is the origin that is asked, and there is none')
})
