import {
  createCatalogue,
  createCrawlerAnswers,
  createCrawlerVerifier,
  createLookup,
  createReverseChecks,
} from '@sallyport/core'
import { createFakeClock, createFakeDns, createFakeWhois } from '@sallyport/core/testing'
import t from 'tap'
import { z } from 'zod'
import { listedIn } from '../../src/api/listed.ts'
import { madeProvenance } from './provenance-service.ts'
import { ADDRESSES, createWire, NAMES, REGISTERED, SNAPSHOT, START } from './wire.ts'

/** Returns the value with one member more in each of its objects. */
function withMore<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withMore) as T
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, withMore(member)])
  return Object.fromEntries([...members, ['unlisted', 'internal']]) as T
}

/** An API whose services all say more than is listed, as a source that is loaded or a later version makes them do. */
function wireWithMore() {
  const clock = createFakeClock(START)
  const place = withMore({ countryCode: 'FR', city: 'Lyon', source: 'geofeed-made' })
  const snapshots = { current: () => ({ ...SNAPSHOT, geo: { families: [4, 6] as const, read: async () => place } }) }
  const registered = { state: 'registered', domain: 'example.com', record: withMore(REGISTERED) } as const
  const whois = createFakeWhois({ 'example.com': registered })
  const dns = createFakeDns(NAMES)
  const lookup = createLookup({ clock, dns, snapshots, whois })
  const verifier = createCrawlerVerifier(createCatalogue(), { reverse: createReverseChecks({ clock, dns }) })
  const crawlers = createCrawlerAnswers(verifier, { clock, snapshots })
  const ledger = madeProvenance(clock, snapshots)
  return createWire({
    snapshots,
    lookup: { lookup: async (...asked) => withMore(await lookup.lookup(...asked)) },
    services: {
      whois,
      crawlers: { ...crawlers, verify: async (...asked) => withMore(await crawlers.verify(...asked)) },
      provenance: {
        attest: async (claim) => withMore(await ledger.attest(claim)),
        evidence: async (...asked) => withMore(await ledger.evidence(...asked)),
        keys: async () => withMore(await ledger.keys()),
      },
    },
  })
}

t.test('what services add to their answers is sent by no route', async (t) => {
  const wire = wireWithMore()
  const key = await wire.keyFor('pro')
  const calls: readonly (readonly [url: string, body?: object])[] = [
    [`/v1/demo/${ADDRESSES.residential_clean}`],
    ['/v1/myip'],
    [`/v1/geo/${ADDRESSES.mobile}`],
    ['/v1/whois/example.com'],
    ['/v1/ip/lookup', { target: 'www.example.com' }],
    ['/v1/crawlers/verify', { ip: ADDRESSES.hosting, bot: 'googlebot' }],
    ['/v1/provenance/check', { ip: ADDRESSES.vpn, claimed_jurisdiction: 'DE' }],
    ['/v1/provenance/export?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z'],
    ['/v1/provenance/keys'],
  ]
  for (const [url, body] of calls) {
    const method = body === undefined ? 'GET' : 'POST'
    const { status, text } = await wire.call(method, url, { key, body: JSON.stringify(body ?? {}) })
    t.equal(status, 200, `${url} ${text.slice(0, 200)}`)
    t.notMatch(text, /"unlisted"|geoSource|geofeed-made/, url)
  }
})

t.test('a schema takes what it lists, and judges nothing', async (t) => {
  const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])
  const listed = listedIn(z.object({ word: z.enum(['one']), either, list: z.array(either).optional() }))
  t.strictSame(listed({ more: 1, word: 'other', either: { b: 'y', c: 'z' } }), { word: 'other', either: { b: 'y' } })
  t.strictSame(listed({ list: 'no list' }), { list: 'no list' })
  for (const value of [null, undefined, 'text', 7]) t.equal(listed(value), value)
})
