import {
  createCatalogue,
  createCrawlerAnswers,
  createCrawlerVerifier,
  createLookup,
  createReverseChecks,
  parseAddress,
} from '@sallyport/core'
import { createFakeClock, createFakeDns, createFakeWhois } from '@sallyport/core/testing'
import t from 'tap'
import { z } from 'zod'
import { ROUTES } from '../../src/api/index.ts'
import { listedIn } from '../../src/api/listed.ts'
import { madeProvenance } from './provenance-service.ts'
import { ADDRESSES, createWire, REGISTERED, SNAPSHOT, START } from './wire.ts'

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
  const addresses = ['12.0.0.1'].flatMap((text) => parseAddress(text) ?? [])
  const dns = createFakeDns({ 'www.example.com': { state: 'found', addresses } })
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

/** A call of each route, and several where its answer has several forms. */
const CALLS: Readonly<Record<string, readonly (readonly [path: string, body?: object])[]>> = {
  demoLookup: [[`/v1/demo/${ADDRESSES.residential_clean}`], ['/v1/demo/127.0.0.1']],
  myIp: [['/v1/myip']],
  verifyCrawler: [['/v1/crawlers/verify', { ip: ADDRESSES.hosting, bot: 'googlebot' }]],
  asnDirectory: [['/v1/asn/directory'], ['/v1/asn/directory?q=home']],
  asnDirectoryEntry: [['/v1/asn/directory/64500']],
  lookup: [
    ['/v1/ip/lookup', { target: 'www.example.com' }],
    ['/v1/ip/lookup', { target: '12.0.0.0/24' }],
  ],
  vpn: [[`/v1/vpn/${ADDRESSES.vpn}`]],
  proxy: [[`/v1/proxy/${ADDRESSES.tor}`]],
  geolocation: [[`/v1/geo/${ADDRESSES.mobile}`]],
  asn: [[`/v1/asn/${ADDRESSES.hosting}`], ['/v1/asn/17.0.0.1']],
  whois: [['/v1/whois/example.com']],
  agentscanCheck: [
    ['/v1/agentscan/check', { ip: ADDRESSES.tor, user_agent: 'curl/8.5.0', headless_flags: { unlisted_flag: true } }],
  ],
  agentscanVerify: [['/v1/agentscan/verify', { ip: ADDRESSES.hosting, user_agent: 'GPTBot/1.0' }]],
  provenanceCheck: [['/v1/provenance/check', { ip: ADDRESSES.vpn, claimed_jurisdiction: 'DE' }]],
  provenanceExport: [
    ['/v1/provenance/export?attestation_id={id}'],
    ['/v1/provenance/export?from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z'],
  ],
  provenanceKeys: [['/v1/provenance/keys']],
  userLimits: [['/v1/user/limits']],
  index: [['/v1']],
  openapi: [['/v1/openapi.json']],
}

t.test('what services add to their answers is sent by no route', async (t) => {
  const wire = wireWithMore()
  const key = await wire.keyFor('pro')
  let id = ''
  for (const { operationId, method, response } of ROUTES.filter(({ path }) => path !== '/v1/docs')) {
    const calls = CALLS[operationId] ?? []
    t.not(calls.length, 0, `${operationId} is called`)
    for (const [path, body] of calls) {
      const asked = { key, body: JSON.stringify(body ?? {}) }
      const { status, json, text } = await wire.call(method, path.replace('{id}', id), asked)
      id = String(json.attestation_id ?? id)
      t.equal(status, 200, `${path} ${text.slice(0, 200)}`)
      t.notMatch(text, /"unlisted"|geoSource|geofeed-made/, path)
      // A schema leaves out what it does not list.
      t.strictSame(response.parse(json), json, `${path} is all that is listed, and as it is listed`)
    }
  }
})

t.test('a schema takes what it lists, and judges nothing', async (t) => {
  const listed = listedIn(
    z.object({
      word: z.enum(['one']),
      none: z.string().optional(),
      nothing: z.object({ in: z.string() }).nullable(),
      free: z.record(z.string(), z.number()),
      list: z.array(z.object({ in: z.string().optional() })).optional(),
      either: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      text: z.union([z.string(), z.number()]),
    }),
  )
  t.strictSame(
    listed({
      more: 1,
      text: 7,
      word: 'another',
      none: undefined,
      nothing: null,
      free: { any: 1, unlisted: 2 },
      list: [{ in: 'x', more: 1 }, {}],
      either: { b: 'y', c: 'z' },
    }),
    {
      word: 'another',
      nothing: null,
      free: { any: 1, unlisted: 2 },
      list: [{ in: 'x' }, {}],
      either: { b: 'y' },
      text: 7,
    },
  )
  t.strictSame(listed({ list: 'no list', nothing: 7 }), { list: 'no list', nothing: 7 })
  for (const value of [null, undefined, 'text', 7]) t.equal(listed(value), value)
  t.strictSame(listedIn(z.string())('page'), 'page')
})
