import t from 'tap'
import { parseTrust, TRUST_PRESETS } from '../src/address/client.ts'
import { makeAddress as at, readPrefix } from '../src/testing/fakes.ts'
import { agentInspector } from './agents.ts'
import { splitWords } from './support.ts'

t.test('prefixes, single addresses and presets are trusted, and nothing beside them', async (t) => {
  const trust = parseTrust(
    splitWords('192.0.2.0/24 2001:db8::/32 198.51.100.7 2001:db9::1 loopback ::ffff:203.0.113.0/120'),
  )
  t.equal(trust.empty, false)
  const inside = ['192.0.2.1', '2001:db8::5', '198.51.100.7', '2001:db9::1', '127.1.2.3', '::1', '203.0.113.77']
  for (const text of inside) t.equal(trust.proxies.has(at(text)), true, text)
  for (const text of ['192.0.3.1', '2001:db7::', '198.51.100.8', '2001:db9::2', '10.0.0.1', '203.0.114.0', '::2'])
    t.equal(trust.proxies.has(at(text)), false, text)
  t.equal(parseTrust([]).empty, true)
  t.equal(parseTrust([]).proxies.has(at('127.0.0.1')), false)
})

t.test('presets hold the proxies they are named after', async (t) => {
  const members: Readonly<Record<string, readonly string[]>> = {
    loopback: ['127.0.0.1', '::1'],
    link_local: ['169.254.1.1', 'fe80::1'],
    private: ['10.1.1.1', '172.31.0.1', '192.168.0.1', 'fd00::1'],
    cloudflare: ['104.16.0.1', '172.71.255.255', '2606:4700::1'],
    cloudfront: ['15.158.0.1', '64.252.64.1', '2600:9000:1000::1'],
    fastly: ['151.101.0.1', '199.232.255.255', '2a04:4e42::1'],
    gcp: ['35.191.0.1', '130.211.3.255', '2600:2d00:1:1::1'],
  }
  t.same([...TRUST_PRESETS].sort(), Object.keys(members).sort())
  for (const [preset, texts] of Object.entries(members)) {
    const { proxies } = parseTrust([preset])
    for (const text of texts) t.equal(proxies.has(at(text)), true, `${preset} ${text}`)
    for (const text of ['8.8.8.8', '2001:4860:4860::8888']) t.equal(proxies.has(at(text)), false, `${preset} ${text}`)
  }
})

t.test('an entry that cannot be meant is invalid_config, by name', async (t) => {
  for (const entry of ['', ...splitWords('0.0.0.0/0 ::/0 ::ffff:0:0/96 Cloudflare any 10/8 10.0.0.0/33 127.1 * 1')]) {
    const error = { code: 'invalid_config', message: new RegExp(`"${entry.replace('*', '\\*')}"`) }
    t.throws(() => parseTrust(['loopback', entry]), error, entry)
  }
})

t.test('entries that together are most visitors are refused as one that is', async (t) => {
  const halves = (length: number) =>
    Array.from({ length: 2 ** length }, (_, at) => `${(at * 256) / 2 ** length}.0.0.0/${length}`)
  const wide = `loopback,128.0.0.0/1,cloudflare,0.0.0.0/1 0.0.0.0/1,128.0.0.0/2,192.0.0.0/3 ::/1,8000::/1 2000::/4 ::/2
    ::ffff:0.0.0.0/97,::ffff:128.0.0.0/97 0.0.0.0/1,2001:db8::/32 2400::/12,2600::/12,2800::/12,2a00::/12`
  for (const entries of [...splitWords(wide).map((text) => text.split(',')), halves(8), halves(4).slice(1)]) {
    const error = { code: 'invalid_config', message: /most of IPv[46]: any client could then forge its address/ }
    t.throws(() => parseTrust(entries), error, entries.join())
  }
  const narrow = splitWords('0.0.0.0/2,0.0.0.0/2,10.0.0.0/8 2400::/6,3000::/4 fc00::/7,8000::/1')
  for (const entries of [...narrow.map((text) => text.split(',')), TRUST_PRESETS])
    t.equal(parseTrust(entries).empty, false, entries.join())
  const published = new Map([['cloudflare', ['0.0.0.0/1', '128.0.0.0/1'].map(readPrefix)]])
  const trust = parseTrust(['cloudflare'], 'cf-connecting-ip', () => published)
  t.equal(trust.proxies.has(at('8.8.8.8')), false, 'a published list that is everybody is not taken over')
  t.equal(trust.proxies.has(at('173.245.48.1')), true)
})

t.test('the header is one name; how it is read follows from it', async (t) => {
  const form = (header: string) => parseTrust([], header).form
  t.equal(form('X-Forwarded-For'), 'list')
  t.equal(form('X-Original-Forwarded-For'), 'list')
  t.equal(form('Forwarded'), 'forwarded')
  t.equal(form('My-Own-Header'), 'single')
  for (const header of ['', 'x forwarded', 'x-forwarded-for, x-real-ip', 'x:y', 'CloudFront-Viewer-Address']) {
    const error = { code: 'invalid_config', message: new RegExp(`"${header}"`) }
    t.throws(() => parseTrust([], header), error, header)
  }
})

t.test('the header that must not come twice is one that holds one address', async (t) => {
  const singleHeader = (entries: readonly string[], header?: string) =>
    agentInspector({ trust: parseTrust(entries, header) }).singleHeader
  t.equal(singleHeader(['loopback'], 'CF-Connecting-IP'), 'cf-connecting-ip')
  t.equal(singleHeader(['loopback'], 'X-Real-IP'), 'x-real-ip')
  for (const list of ['X-Forwarded-For', 'Forwarded', 'X-Original-Forwarded-For'])
    t.equal(singleHeader(['loopback'], list), undefined, list)
  t.equal(singleHeader([], 'X-Real-IP'), undefined, 'which nobody is believed in')
})

t.test("a delivery network's current list is trusted in place of the shipped one", async (t) => {
  const list = (...texts: readonly string[]) => texts.map(readPrefix)
  let published = new Map([['cloudflare', list('198.51.100.0/24')]])
  const trust = parseTrust(['cloudflare', 'fastly', '192.0.2.1'], 'cf-connecting-ip', () => published)
  const trusted = (text: string): boolean => trust.proxies.has(at(text))
  t.equal(trusted('198.51.100.7'), true)
  t.equal(trusted('104.16.0.1'), false, 'no longer one of theirs')
  t.equal(trusted('2606:4700::1'), true, 'of the other family nothing was published')
  t.equal(trusted('151.101.0.1'), true, 'nor of another network')
  t.equal(trusted('192.0.2.1'), true)
  const { proxies } = trust
  t.equal(trust.proxies, proxies, 'made once for each list')

  published = new Map([
    ['cloudflare', list('203.0.113.0/24', '2001:db8::/32')],
    ['other', list('0.0.0.0/1')],
  ])
  t.equal(trusted('203.0.113.1'), true)
  t.equal(trusted('198.51.100.7'), false)
  t.equal(trusted('2606:4700::1'), false)
  t.equal(trusted('8.8.8.8'), false, 'a list that is not trusted by name gives nothing')
})
