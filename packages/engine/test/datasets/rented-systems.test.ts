import { classify, type Snapshot } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { openTables, writeServers } from './fixtures.ts'

/** Hosts of 16 /24s and of 1,024, a public cloud and a carrier of the operator table, and a name that says nothing. */
const ASN4 = [
  '23.0.0.0,23.0.15.255,64500,Plain Hosting',
  '23.4.0.0,23.7.255.255,64501,Wide Hosting',
  '23.8.0.0,23.8.15.255,16509,"Amazon.com, Inc."',
  '23.9.0.0,23.9.15.255,7922,"Comcast Cable Communications, LLC"',
  '23.10.0.0,23.10.31.255,64504,Plain Words AB',
].join('\n')

const exitsIn = (network: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `${network}.${from + at}.9`)

async function listClasses(t: Test, files: Readonly<Record<string, string>>) {
  const { systems } = await openTables(t, { 'asn-csv-v4': ASN4, ...files })
  return (asn: number) => {
    const system = systems?.system(systems.indexOf(asn))
    return `${system?.type} ${system?.networkClass}`
  }
}

const three = (network: string) => ({
  ivpn: exitsIn(network, 2),
  nordvpn: exitsIn(network, 2, 2),
  surfshark: exitsIn(network, 1, 4),
})

t.test('a host that three services rent from in five of its /24s is mixed; fewer tenants are guests', async (t) => {
  const classIn = await listClasses(t, { 'gluetun-servers': writeServers(three('23.0')) })
  t.equal(classIn(64_500), 'hosting vpn')
  t.equal(classIn(64_501), 'hosting hosting')
  const classWith = async (services: Readonly<Record<string, readonly string[]>>, asn = 64_500) =>
    (await listClasses(t, { 'gluetun-servers': writeServers(services) }))(asn)
  const fourPlaces = { ivpn: exitsIn('23.0', 2), nordvpn: exitsIn('23.0', 1, 2), privado: exitsIn('23.0', 1, 3) }
  for (const services of [{ ivpn: exitsIn('23.0', 3), nordvpn: exitsIn('23.0', 3, 3) }, fourPlaces])
    t.equal(await classWith(services), 'hosting hosting')
  t.equal(await classWith(three('23.4'), 64_501), 'hosting hosting')
})

t.test('lists count together: a service by its name, and a list that names none by its /24s', async (t) => {
  const named = { ivpn: exitsIn('23.0', 1), nordvpn: exitsIn('23.0', 1, 1), windscribe: exitsIn('23.0', 1, 2) }
  const classWith = async (files: Readonly<Record<string, string>>) => (await listClasses(t, files))(64_500)
  const more = exitsIn('23.0', 2, 3).join('\n')
  t.equal(await classWith({ 'gluetun-servers': writeServers(named) }), 'hosting hosting')
  t.equal(await classWith({ 'gluetun-servers': writeServers(named), 'x4bnet-vpn-ipv4': more }), 'hosting vpn')
  const { windscribe: _, ...two } = named
  const own = { 'gluetun-servers': writeServers(two), 'x4bnet-vpn-ipv4': more }
  t.equal(await classWith(own), 'hosting hosting', 'a list without names is no service')
  t.equal(await classWith({ ...own, tunnelbear: '23.0.5.9' }), 'hosting vpn')
  const again = { ...own, 'nordvpn-servers': '[{"station":"23.0.6.9"}]' }
  t.equal(await classWith(again), 'hosting hosting', 'one service in two lists is one')
})

const PROBES = ['23.0.200.1', '23.0.0.9', '23.0.7.7', '23.1.1.1', '23.4.0.9', '23.4.9.9', '23.4.200.1']

t.test('lists add to what a row of the operator table says of a host, and never take it away', async (t) => {
  const ASN = '23.0.0.0,23.1.255.255,9009,M247 Europe SRL\n23.4.0.0,23.4.255.255,64500,Plain Hosting'
  const read = async (files: Readonly<Record<string, string>>): Promise<Snapshot> => {
    return { ...(await openTables(t, { 'asn-csv-v4': ASN, ...files })), sources: [] }
  }
  // Each says something of VPNs in its own way: services elsewhere, few of many, most of a host, ranges, systems.
  const lists: Readonly<Record<string, string>> = {
    'gluetun-servers': writeServers(three('23.4')),
    'protonvpn-exit': exitsIn('23.0', 1).join('\n'),
    'x4bnet-vpn-ipv4': '23.0.7.0/24\n23.4.9.0/24',
    'x4bnet-dc-ipv4': '23.0.0.0/15\n23.4.0.0/16',
    'x4bnet-dc-asn': 'AS9009 # M247\nAS64500 # Plain',
  }
  const ids = Object.keys(lists)
  const found = new Map<number, readonly string[]>()
  for (let subset = 0; subset < 2 ** ids.length; subset++) {
    const files = Object.fromEntries(ids.filter((_, at) => subset & (1 << at)).map((id) => [id, lists[id] as string]))
    const snapshot = await read(files)
    const isVpn = (text: string) => classify(makeAddress(text), snapshot).verdict.classification === 'vpn'
    found.set(subset, PROBES.filter(isVpn))
    for (const [at, id] of ids.entries()) {
      const before = subset & (1 << at) ? (found.get(subset ^ (1 << at)) ?? []) : []
      const lost = before.filter((text) => !found.get(subset)?.includes(text))
      t.same(lost, [], `${id} beside ${Object.keys(files)}`)
    }
  }
  t.same(found.get(0), ['23.0.200.1', '23.0.0.9', '23.0.7.7', '23.1.1.1'], 'the row alone')
  const bing = await read({ 'bot-bingbot': '{"prefixes":[{"ipv4Prefix":"23.0.200.0/24"}]}' })
  t.equal(classify(makeAddress('23.0.200.1'), bing).verdict.classification, 'datacenter')
})

t.test('clouds and carriers stay what they are, and a name that says nothing does not hide a host', async (t) => {
  const services = [three('23.8'), three('23.9'), three('23.10')]
  const together = Object.fromEntries(
    Object.keys(three('')).map((name) => [name, services.flatMap((one) => one[name as keyof typeof one])]),
  )
  const classIn = await listClasses(t, { 'gluetun-servers': writeServers(together) })
  t.equal(classIn(16_509), 'hosting datacenter')
  t.equal(classIn(7_922), 'isp residential_clean')
  t.equal(classIn(64_504), 'hosting vpn')
})
