import t, { type Test } from 'tap'
import { serversOf, tablesOf } from './fixtures.ts'

/** Hosts of 16 /24s and of 1,024, a public cloud and a carrier of the operator table, and a name that says nothing. */
const ASN4 = [
  '23.0.0.0,23.0.15.255,64500,Plain Hosting',
  '23.4.0.0,23.7.255.255,64501,Wide Hosting',
  '23.8.0.0,23.8.15.255,16509,"Amazon.com, Inc."',
  '23.9.0.0,23.9.15.255,7922,"Comcast Cable Communications, LLC"',
  '23.10.0.0,23.10.31.255,64504,Plain Words AB',
].join('\n')

/** One address in each of so many /24s of a network. */
const exitsIn = (network: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `${network}.${from + at}.9`)

async function classesOf(t: Test, files: Readonly<Record<string, string>>) {
  const { systems } = await tablesOf(t, { 'asn-csv-v4': ASN4, ...files })
  if (systems === undefined) throw new Error('nothing was compiled')
  return (asn: number) => {
    const { type, networkClass } = systems.system(systems.indexOf(asn))
    return `${type} ${networkClass}`
  }
}

const three = (network: string) => ({
  ivpn: exitsIn(network, 2),
  nordvpn: exitsIn(network, 2, 2),
  surfshark: exitsIn(network, 1, 4),
})

t.test('a host that three services rent from in five of its /24s is mixed', async (t) => {
  const classIn = await classesOf(t, { 'gluetun-servers': serversOf(three('23.0')) })
  t.equal(classIn(64_500), 'hosting vpn')
  t.equal(classIn(64_501), 'hosting hosting')
})

t.test('two services, four /24s, or few of many are guests', async (t) => {
  const classWith = async (services: Readonly<Record<string, readonly string[]>>, asn = 64_500) =>
    (await classesOf(t, { 'gluetun-servers': serversOf(services) }))(asn)
  t.equal(await classWith({ ivpn: exitsIn('23.0', 3), nordvpn: exitsIn('23.0', 3, 3) }), 'hosting hosting')
  t.equal(
    await classWith({ ivpn: exitsIn('23.0', 2), nordvpn: exitsIn('23.0', 1, 2), privado: exitsIn('23.0', 1, 3) }),
    'hosting hosting',
  )
  t.equal(await classWith(three('23.4'), 64_501), 'hosting hosting')
})

t.test('lists count together: a service by its name, and a list that names none by its /24s', async (t) => {
  const named = { ivpn: exitsIn('23.0', 1), nordvpn: exitsIn('23.0', 1, 1), windscribe: exitsIn('23.0', 1, 2) }
  const classWith = async (files: Readonly<Record<string, string>>) => (await classesOf(t, files))(64_500)
  const more = exitsIn('23.0', 2, 3).join('\n')
  t.equal(await classWith({ 'gluetun-servers': serversOf(named) }), 'hosting hosting')
  t.equal(await classWith({ 'gluetun-servers': serversOf(named), 'x4bnet-vpn-ipv4': more }), 'hosting vpn')
  const { windscribe: _, ...two } = named
  const own = { 'gluetun-servers': serversOf(two), 'x4bnet-vpn-ipv4': more }
  t.equal(await classWith(own), 'hosting hosting', 'a list without names is no service')
  t.equal(await classWith({ ...own, tunnelbear: '23.0.5.9' }), 'hosting vpn')
  const again = {
    'gluetun-servers': serversOf(two),
    'x4bnet-vpn-ipv4': more,
    'nordvpn-servers': '[{"station":"23.0.6.9"}]',
  }
  t.equal(await classWith(again), 'hosting hosting', 'one service in two lists is one')
})

t.test('what a row of the operator table says of a host holds until three services are loaded', async (t) => {
  const ASN = '23.0.0.0,23.1.255.255,9009,M247 Europe SRL'
  const classWith = async (services: Readonly<Record<string, readonly string[]>>) => {
    const { systems } = await tablesOf(t, { 'asn-csv-v4': ASN, 'gluetun-servers': serversOf(services) })
    const { type, networkClass } = systems?.system(systems.indexOf(9009)) ?? {}
    return `${type} ${networkClass}`
  }
  t.equal(await classWith({}), 'hosting vpn')
  t.equal(await classWith({ ivpn: exitsIn('23.4', 3), nordvpn: exitsIn('23.4', 3, 3) }), 'hosting vpn')
  t.equal(await classWith(three('23.4')), 'hosting hosting', 'three that rent elsewhere')
  t.equal(await classWith(three('23.0')), 'hosting hosting', 'few of many')
  const all = exitsIn('23.0', 100)
  t.equal(await classWith({ ivpn: all, nordvpn: all, surfshark: all }), 'hosting vpn')
})

t.test('clouds and carriers stay what they are, and a name that says nothing does not hide a host', async (t) => {
  const services = [three('23.8'), three('23.9'), three('23.10')]
  const together = Object.fromEntries(
    Object.keys(three('')).map((name) => [name, services.flatMap((one) => one[name as keyof typeof one])]),
  )
  const classIn = await classesOf(t, { 'gluetun-servers': serversOf(together) })
  t.equal(classIn(16_509), 'hosting datacenter')
  t.equal(classIn(7_922), 'isp residential_clean')
  t.equal(classIn(64_504), 'hosting vpn')
})
