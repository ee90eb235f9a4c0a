import {
  compilePolicy,
  createCatalogue,
  createCrawlerVerifier,
  createInspector,
  createReverseChecks,
  parsePrefix,
  parseTrust,
  type Rule,
} from '@sallyport/core'
import { createCrawlerRanges, createFakeClock, createFakeDns, makeSnapshots } from '@sallyport/core/testing'
import t from 'tap'
import { HOSTS } from './hosts.ts'
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
    snapshots: makeSnapshots({
      ...createCrawlerRanges([{ slug, state: 'fresh', date: '2026-11-20', prefixes }]),
      rangesLoaded: true,
    }),
    trust: parseTrust(['loopback']),
    policy,
    mode: 'enforce',
  })
  return { ...madeScene().enforcing, decide }
}

const WISH = 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'

for (const host of HOSTS) {
  t.test(`${host.name} redirects proven crawlers and asks for signatures`, async (t) => {
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
  })
}
