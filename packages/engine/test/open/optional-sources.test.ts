import t from 'tap'
import { ROUTES } from '../../src/api/index.ts'
import { open } from '../../src/open/open.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'
import { apiRequest } from './requests.ts'

/** One source of each kind that is optional. */
const OPTIONAL = {
  'x4bnet-vpn-ipv4': '8.3.0.0/16\n',
  'x4bnet-dc-ipv4': '8.2.0.0/16\n',
  'tor-bulk-exit': '8.4.0.1\n',
  'thespeedx-http': '8.1.7.7:8080\n',
  'geofeed-t-mobile-us': '8.1.0.0/24,US,US-CA,San José,95101\n',
  'bot-googlebot': '{"creationTime":"2026-01-01T00:00:00.000000","prefixes":[{"ipv4Prefix":"8.2.5.0/24"}]}',
  'bot-pingdom': '8.2.6.1\n',
  'firehol-level1': '8.4.0.0/16\n',
  'oxl-line-names': '8.1.9.1\n',
  'cloudflare-edge-v4': '8.2.250.0/24\n',
  'dbip-city-lite': bernDatabase(),
}
const ADDRESSES = ['8.1.0.9', '8.1.7.7', '8.1.9.1', '8.2.5.1', '8.2.6.1', '8.2.250.1', '8.3.0.1', '8.4.0.1', '9.9.9.9']

/** Calls of an operation about an address. No traffic leaves this machine, so no name and no registration is asked for. */
const CALLS: Readonly<Record<string, (ip: string) => readonly [path: string, body?: object]>> = {
  demoLookup: (ip) => [`/v1/demo/${ip}`],
  asnDirectory: () => ['/v1/asn/directory'],
  asnDirectoryEntry: () => ['/v1/asn/directory/AS24940'],
  lookup: (ip) => ['/v1/ip/lookup', { target: `${ip}/24` }],
  vpn: (ip) => [`/v1/vpn/${ip}`],
  proxy: (ip) => [`/v1/proxy/${ip}`],
  geolocation: (ip) => [`/v1/geo/${ip}`],
  asn: (ip) => [`/v1/asn/${ip}`],
  agentscanCheck: (ip) => ['/v1/agentscan/check', { ip, headers: { 'User-Agent': 'curl/8.5.0' } }],
  agentscanVerify: (ip) => ['/v1/agentscan/verify', { ip, user_agent: 'Nobody/1.0' }],
  provenanceCheck: (ip) => ['/v1/provenance/check', { ip, claimed_jurisdiction: 'US' }],
  provenanceExport: () => ['/v1/provenance/export?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'],
  provenanceKeys: () => ['/v1/provenance/keys'],
  userLimits: () => ['/v1/user/limits'],
  myIp: () => ['/v1/myip'],
  index: () => ['/v1'],
  openapi: () => ['/v1/openapi.json'],
}

t.test('with every optional source loaded each 200 has what its schema lists and nothing else', async (t) => {
  const sallyport = await open(madeConfig(t.testdir(), OPTIONAL), { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  const states = new Map(sallyport.sources().map(({ id, state }) => [id, state]))
  for (const id of Object.keys(OPTIONAL)) t.equal(states.get(id), 'loaded', id)
  t.match(await sallyport.lookup('8.1.0.9'), { geo: { city: 'San José' }, geoSource: 'geofeed-t-mobile-us' })

  const { key } = await sallyport.keyring.issue({ plan: 'pro' })
  for (const { operationId, method, response } of ROUTES) {
    const callOf = CALLS[operationId]
    if (callOf === undefined) continue
    for (const ip of ADDRESSES) {
      const [url, body] = callOf(ip)
      const [path = '', query = ''] = url.split('?')
      const asked = { ...apiRequest(path, key), method, query: new URLSearchParams(query), json: async () => body }
      const answered = await sallyport.api(asked)
      const text = String(answered?.body)
      t.equal(answered?.status, 200, `${url} ${text.slice(0, 200)}`)
      const json = JSON.parse(text)
      t.strictSame(response.parse(json), json, `${method} ${url} ${ip}`)
    }
  }
})

t.test('files of crawlers alone are no ranges that the directory counts', async (t) => {
  const { 'bot-googlebot': google, 'x4bnet-dc-ipv4': datacenters } = OPTIONAL
  const counts = async (files: Readonly<Record<string, string>>) => {
    const sallyport = await open(madeConfig(t.testdir(), files), { onNotice: () => {} })
    const answered = await sallyport.api(apiRequest('/v1/asn/directory/24940'))
    // The next one is made in the same folder.
    await sallyport.close()
    const { rangesLoaded, vpnRangePrefixes, datacenterRangePrefixes } = JSON.parse(String(answered?.body))
    return [rangesLoaded, vpnRangePrefixes, datacenterRangePrefixes]
  }
  const crawler = { 'bot-googlebot': google.replace('8.2.5.0/24', '8.2.0.0/16') }
  t.same(await counts(crawler), [false, 0, 0])
  t.same(await counts({ 'x4bnet-dc-ipv4': datacenters }), [false, 0, 0], 'one list without the other')
  const others = { 'x4bnet-dc-ipv4': '8.3.0.0/16\n', 'x4bnet-vpn-ipv4': '8.4.0.0/16\n' }
  t.same(await counts({ ...crawler, ...others }), [true, 0, 0])
  t.same(await counts({ ...crawler, 'x4bnet-dc-ipv4': datacenters, 'x4bnet-vpn-ipv4': '8.2.0.0/17\n' }), [true, 1, 1])
})
