import {
  createCatalogue,
  createCrawlerVerifier,
  createReverseChecks,
  parsePrefix,
  parseTrust,
  type Rule,
} from '@sallyport/core'
import { createCrawlerRanges, createFakeClock, createFakeDns, makeSnapshots } from '@sallyport/core/testing'
import t from 'tap'
import { makeInspector } from '../inspector.ts'
import { startHost } from './every-host.ts'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { askAs } from './wire.ts'

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
  const crawlers = createCrawlerVerifier(catalogue, {
    reverse: createReverseChecks({ clock, dns: createFakeDns({}, {}) }),
  })
  const ranges = createCrawlerRanges([{ slug, state: 'fresh', date: '2026-11-20', prefixes }])
  const snapshots = makeSnapshots({ ...ranges, rangesLoaded: true })
  const about = { clock, crawlers, snapshots, trust: parseTrust(['loopback']) }
  const { decide } = makeInspector({ preset: 'observe', rules: RULES }, about)
  return { ...madeScene().enforcing, decide }
}

const WISH = 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'

for (const host of HOSTS) {
  t.test(`${host.name} redirects proven crawlers and asks for signatures`, async (t) => {
    const site = await startHost(t, host, made())
    const ask = (address: string, ...more: readonly string[]) =>
      askAs(site, address, '/docs/a?b=c', ['User-Agent', GPTBOT, ...more])
    const led = await ask('8.3.0.9')
    t.match(
      [led.status, led.headers],
      [302, { location: '/docs/a.md', vary: 'User-Agent', 'cache-control': 'no-store' }],
    )
    const claimed = await ask('8.9.9.9')
    t.match([claimed.status, claimed.headers], [403, { 'accept-signature': WISH }], 'who only says so is not led')
    const signed = await ask('8.9.9.9', 'Signature-Input', 'sig1=()')
    t.match([signed.status, signed.headers['accept-signature']], [403, undefined])
  })
}
