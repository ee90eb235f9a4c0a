import { type Dns, parsePrefix } from '@sallyport/core'
import { createCrawlerRanges, createFakeDns, type RangeList } from '@sallyport/core/testing'
import t from 'tap'
import { CrawlerVerifyResponse } from '../../src/api/schemas/agents.ts'
import { ADDRESSES, createWire, SNAPSHOT, START } from './wire.ts'

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

function makeList(id: string, state: RangeList['state'], ...cidrs: readonly string[]): RangeList {
  return { slug: id, state, date: '2026-02-09', prefixes: cidrs.flatMap((text) => parsePrefix(text) ?? []) }
}

const FRESH = createCrawlerRanges([
  makeList('googlebot', 'fresh', '11.0.0.0/24'),
  makeList('gptbot', 'fresh', '11.1.0.0/24'),
])

function wireWith(dns: Dns = createFakeDns({}), ranges = FRESH) {
  return createWire({ dns, snapshots: { current: () => ({ ...SNAPSHOT, ...ranges }) } })
}

async function verify(body: unknown, wire = wireWith()) {
  return wire.call('POST', '/v1/crawlers/verify', { body: JSON.stringify(body) })
}

const statuses = (json: { readonly checks: readonly { readonly status: string }[] }) =>
  json.checks.map(({ status }) => status)

t.test('a verified crawler, and a forged one that every check refutes', async (t) => {
  const { status, json } = await verify({ ip: ADDRESSES.hosting, user_agent: GOOGLEBOT })
  const found = '11.0.0.1 is in the ranges that Google publishes for Googlebot (as of 2026-02-09).'
  const summary = `The client is Googlebot of Google, verified. ${found}`
  const network = {
    networkOrigin: 'hosting',
    anonymized: false,
    asn: 'AS64500',
    asnName: 'Cloud Nine Ltd',
    country: 'DE',
  }
  t.equal(status, 200)
  t.hasStrict(json, { slug: 'googlebot', userAgent: GOOGLEBOT, checkedAt: START, ...network })
  t.hasStrict(json, { outcome: 'verified', method: 'published ranges', summary })
  t.same(statuses(json), ['not-applicable', 'passed', 'not-applicable', 'not-applicable'])
  t.same(json.checks[1], { name: 'published ranges', status: 'passed', detail: found })
  t.same(CrawlerVerifyResponse.parse(json), json)
  const forged = (await verify({ ip: ADDRESSES.residential_clean, bot: 'googlebot' })).json
  t.match(forged, { outcome: 'spoofed', method: 'published ranges, reverse DNS', networkOrigin: 'residential_clean' })
  t.notOk('userAgent' in forged)
  t.same(statuses(forged), ['not-applicable', 'refuted', 'not-applicable', 'refuted'])
})

t.test('one whose file cannot be had, or whose DNS is down, is never spoofed', async (t) => {
  const failed = async () => ({ state: 'failed', reason: 'ETIMEOUT' }) as const
  for (const wire of [
    wireWith(createFakeDns({}), createCrawlerRanges([])),
    wireWith(createFakeDns({}), createCrawlerRanges([makeList('googlebot', 'stale', '11.0.0.0/24')])),
    wireWith({ resolve: failed, resolvePtr: failed }),
  ]) {
    const { json } = await verify({ ip: ADDRESSES.residential_clean, bot: 'googlebot' }, wire)
    t.match(json, { outcome: 'unverifiable', method: undefined, summary: /neither confirmed nor refuted/ })
  }
})

t.test('the reverse name is shown where it is no lie', async (t) => {
  const dns = createFakeDns(
    { 'crawl-1.googlebot.com': { state: 'found', addresses: [] } },
    {
      [ADDRESSES.mobile]: { state: 'found', names: ['line-7.telecom.example'] },
      [ADDRESSES.unknown]: { state: 'found', names: ['crawl-1.googlebot.com'] },
    },
  )
  const home = await verify({ ip: ADDRESSES.mobile, bot: 'googlebot' }, wireWith(dns))
  t.match(home.json, { outcome: 'spoofed', hostname: 'line-7.telecom.example' })
  const liar = await verify({ ip: ADDRESSES.unknown, bot: 'googlebot' }, wireWith(dns))
  t.match(liar.json, { outcome: 'spoofed', hostname: undefined }, "a lie about another's domain is not repeated")
})

t.test('a user agent that names no crawler makes no claim', async (t) => {
  const { json } = await verify({ ip: ADDRESSES.tor, user_agent: 'curl/8.5.0' })
  t.match(json, { outcome: 'unverifiable', userAgent: 'curl/8.5.0', networkOrigin: 'tor', anonymized: true })
  t.notOk('slug' in json || 'crawler' in json || 'method' in json)
  t.same(new Set(statuses(json)), new Set(['not-applicable']))
})

t.test('both twins answer alike, byte for byte, and the keyed one counts', async (t) => {
  const wire = wireWith()
  const key = await wire.keyFor('free')
  const claims = [{ ip: ADDRESSES.hosting, user_agent: GOOGLEBOT }, { ip: ADDRESSES.vpn, bot: 'gptbot' }, { ip: 'x' }]
  for (const body of claims.map((claim) => JSON.stringify(claim))) {
    const keyless = await wire.call('POST', '/v1/crawlers/verify', { body })
    const keyed = await wire.call('POST', '/v1/agentscan/verify', { body, key })
    t.strictSame([keyed.status, keyed.text], [keyless.status, keyless.text], body)
  }
  t.equal(await wire.usage(key, '2026-01-31'), claims.length)
})

t.test('a request without a claim is 400 with a code', async (t) => {
  const ip = ADDRESSES.hosting
  for (const [body, error] of [
    [{ ip }, 'invalid_request'],
    [{ bot: 'googlebot' }, 'invalid_request'],
    [{ ip: '11.0.0.0/24', bot: 'googlebot' }, 'invalid_ip'],
    [{ ip, bot: '' }, 'unknown_crawler'],
    [{ ip, bot: 'Googlebot' }, 'unknown_crawler'],
    [{ ip, bot: '__proto__' }, 'unknown_crawler'],
    [{ ip, bot: 'x'.repeat(10_000) }, 'unknown_crawler'],
    [{ ip, bot: 'bingbot', user_agent: GOOGLEBOT }, 'claim_mismatch'],
  ] as const) {
    const { status, json } = await verify(body)
    t.same([status, json.error], [400, error], JSON.stringify(body).slice(0, 60))
    t.ok(json.message.length < 300)
  }
  t.equal((await verify({ ip, bot: 'googlebot', user_agent: GOOGLEBOT })).json.outcome, 'verified')
  const silent = await verify({ ip, bot: 'chatgpt-agent', user_agent: 'Mozilla/5.0 Chrome/142.0.0.0 Safari/537.36' })
  t.equal(silent.status, 200, 'a browser’s user agent contradicts nothing')
})
