import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  compilePolicy,
  createCatalogue,
  createCrawlerVerifier,
  createInspector,
  createReverseChecks,
  parsePrefix,
  parseTrust,
  type Rule,
  usageOf,
} from '@sallyport/core'
import { createCrawlerRanges, createFakeClock, createFakeDns, snapshotsOf } from '@sallyport/core/testing'
import { inspection as inspectFetch } from '@sallyport/fetch'
import { listener } from '@sallyport/node'
import t from 'tap'
import { HOSTS, running } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { madeScene } from './scene.ts'
import { exchange, parseResponse, requestBytes } from './wire.ts'

const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot'
const catalogue = createCatalogue()
const slug = catalogue.crawlers.find(({ slug }) => slug === 'gptbot')?.ranges ?? ''
const prefixes = [parsePrefix('8.3.0.0/24')].flatMap((prefix) => prefix ?? [])

const RULES: readonly Rule[] = [
  { id: 'no-seo', match: { purpose: ['seo'] }, action: 'block' },
  { id: 'twin', match: { purpose: ['training'], path: ['/docs/**'] }, action: 'redirect', to: '{path}.md' },
  { id: 'no-training', match: { purpose: ['training'] }, action: 'block' },
]

/** A service whose rules redirect one crawler and refuse others, and whose answers say so. */
function made() {
  const clock = createFakeClock('2026-11-26T00:00:00Z')
  const policy = compilePolicy({ preset: 'observe', rules: RULES })
  const { decide } = createInspector({
    clock,
    crawlers: createCrawlerVerifier(catalogue, { reverse: createReverseChecks({ clock, dns: createFakeDns({}, {}) }) }),
    snapshots: snapshotsOf({
      ...createCrawlerRanges([{ slug, state: 'fresh', date: '2026-11-20', prefixes }]),
      rangesLoaded: true,
    }),
    trust: parseTrust(['loopback']),
    policy,
    mode: 'enforce',
  })
  const usage = usageOf({ parts: [{ policy, mode: 'enforce' }], license: 'https://a.example/license.xml' })
  return { ...madeScene().enforcing, decide, usage: () => usage }
}

const LINK = '<https://a.example/license.xml>; rel="license"; type="application/rsl+xml"'
const WISH = 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'

for (const host of HOSTS) {
  t.test(`${host.name} redirects proven crawlers, says how content may be used, and asks for signatures`, async (t) => {
    const site = await host.start(made(), '')
    t.teardown(() => site.close())
    const ask = async (path: string, agent: string, address: string, ...more: readonly string[]) => {
      const fields = ['User-Agent', agent, 'X-Forwarded-For', address, 'Connection', 'close']
      return parseResponse(await exchange(site.port, requestBytes('GET', path, [...fields, ...more])))
    }
    const led = await ask('/docs/a?b=c', GPTBOT, '8.3.0.9')
    t.match(
      [led.status, led.headers],
      [302, { location: '/docs/a.md', vary: 'User-Agent', 'cache-control': 'no-store' }],
    )
    const claimed = await ask('/docs/a', GPTBOT, '8.9.9.9')
    t.match([claimed.status, claimed.headers], [403, { 'accept-signature': WISH }], 'who only says so is not led')
    const signed = await ask('/docs/a', GPTBOT, '8.9.9.9', 'Signature-Input', 'sig1=()')
    t.match([signed.status, signed.headers['accept-signature']], [403, undefined])
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const person = await ask('/shop', firefox, '8.9.9.9')
    t.match([person.status, person.headers], [200, { 'content-usage': 'train-ai=n', link: LINK }])
  })
}

t.test('the fields of a site win over ours', async (t) => {
  const own = { 'Content-Usage': 'train-ai=y', Link: '</style.css>; rel=preload' }
  const origin = await running(createServer((_, res) => void res.writeHead(200, own).end('own')))
  t.teardown(() => origin.close())
  const proxy = await startProxy(t, made(), { upstream: `http://127.0.0.1:${origin.port}` })
  const app = createServer(
    listener(made(), (_, res) => {
      for (const [name, value] of Object.entries(own)) res.setHeader(name, value)
      res.end('own')
    }),
  )
  const node = await running(app)
  t.teardown(() => node.close())
  for (const url of [proxy.url, `http://127.0.0.1:${(app.address() as AddressInfo).port}`]) {
    const { headers } = await fetch(url)
    t.equal(headers.get('content-usage'), own['Content-Usage'], url)
    t.equal(headers.get('link'), own.Link, url)
  }
  const guarded = await inspectFetch(made())(new Request('http://site.example/'), { address: '127.0.0.1' })
  const { headers } = guarded.end(new Response('own', { headers: own }))
  t.equal(headers.get('content-usage'), own['Content-Usage'])
  t.equal(headers.get('link'), own.Link)
})
