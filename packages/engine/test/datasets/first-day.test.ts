import { classify, type NetworkFinding, PRIVATE_RELAY, type Snapshot } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { openTables } from './fixtures.ts'

/* What an installation knows of an address before its first download, or with systems that are some days old. */

const SYSTEMS4 = '23.0.0.0,23.255.255.255,64500,Plain Hosting\n104.28.0.0,104.31.255.255,13335,"Cloudflare, Inc."'

const isPrivateRelay = ({ verdict, provider }: NetworkFinding) =>
  `${verdict.classification} ${provider}` === `vpn ${PRIVATE_RELAY}`

async function readFindings(t: Test, files: Readonly<Record<string, string>>) {
  const snapshot: Snapshot = { ...(await openTables(t, { 'asn-csv-v4': SYSTEMS4, ...files })), sources: [] }
  return (text: string) => classify(makeAddress(text), snapshot)
}

t.test('the shipped data identifies relays on the first day, and the lists of the relays replace it', async (t) => {
  const finding = await readFindings(t, {})
  for (const text of ['172.225.10.1', '2a02:26f7::1', '2a09:bac3:1::1']) t.ok(isPrivateRelay(finding(text)), text)
  for (const text of ['104.30.1.1', '2a09:bac1::1']) {
    const { verdict, provider } = finding(text)
    t.match([verdict.classification, provider], ['vpn', 'Cloudflare WARP'], text)
    t.ok(verdict.confidence > 0.5)
  }
  t.not(finding('104.27.0.1').verdict.classification, 'vpn', 'an edge that sites are behind')
  const fed = await readFindings(t, { 'apple-private-relay': '23.5.5.0/31,DE,DE-BE,Berlin,\n' })
  t.ok(isPrivateRelay(fed('23.5.5.1')))
  t.notOk(isPrivateRelay(fed('172.225.10.1')), 'which Apple has given back')
  t.equal(fed('104.30.1.1').provider, 'Cloudflare WARP')
})

t.test('SIM cards of a carrier that has lines under the same number are mobile on the first day', async (t) => {
  const finding = await readFindings(t, { 'asn-csv-v4': '126.0.0.0,126.255.255.255,17676,SoftBank Corp.' })
  t.match(finding('126.254.65.205'), { verdict: { classification: 'mobile' }, provider: '', asn: 17_676 })
  t.equal(finding('126.60.1.1').verdict.classification, 'residential_clean')
  const europe = await readFindings(t, {
    'asn-csv-v4': [
      '80.128.0.0,80.187.255.255,3320,Deutsche Telekom AG',
      '90.224.0.0,90.239.255.255,3301,Telia Company AB',
      '92.128.0.0,92.184.255.255,3215,Orange S.A.',
      '109.40.0.0,109.47.255.255,3209,Vodafone GmbH',
    ].join('\n'),
    'asn-csv-v6': '2a01:598::,2a01:59f:ffff:ffff:ffff:ffff:ffff:ffff,3320,Deutsche Telekom AG',
  })
  for (const text of ['80.187.97.69', '2a01:599:406::1', '90.233.209.50', '92.184.108.23', '109.43.177.41'])
    t.equal(europe(text).verdict.classification, 'mobile', text)
  for (const text of ['80.140.1.1', '90.224.1.1', '92.130.1.1', '109.46.1.1'])
    t.equal(europe(text).verdict.classification, 'residential_clean', text)
})

t.test('a gap of IPv6 within what one system has is its own, and of a shared block nobody knows', async (t) => {
  const line = (first: string, last: string, asn: number) => `${first},${last},${asn},Made ${asn} Broadband`
  const parts = (block: string, asns: readonly number[]) =>
    asns.map((asn, at) => line(`${block}:${at}00::`, `${block}:${at}0f:ffff:ffff:ffff:ffff:ffff`, asn))
  const finding = await readFindings(t, {
    'asn-csv-v6': [
      ...parts('2a00:1', [64_510, 64_510, 64_510]),
      ...parts('2a00:2', [64_510, 64_510]),
      ...parts('2a00:3', [64_511, 64_512, 64_511, 64_512]),
      ...[0, 1, 2, 3, 4, 5, 6].flatMap((at) => parts(`2a10:100${at}`, [64_513, 64_513])),
    ].join('\n'),
  })
  const asnsAt = (...texts: readonly string[]) => texts.map((text) => finding(text).asn)
  t.same(asnsAt('2a00:1:1::1', '2a00:1:ffff::1'), [64_510, 64_510])
  t.same(asnsAt('2a00:2:100::1', '2a00:2:ffff::1'), [64_510, undefined], 'two parts are a few customers')
  t.same(asnsAt('2a00:3:000::1', '2a00:3:050::1'), [64_511, undefined])
  t.same(asnsAt('2a10:1003:ffff::1', '2a10:100f::1'), [64_513, 64_513], 'many parts of a /28')
  t.same(asnsAt('2a10:1010::1'), [undefined])
})

t.test("an operator's places say which lines are its own", async (t) => {
  const finding = await readFindings(t, {
    'geofeed-starlink': '2a00:9::/48,DE,DE-BE,Berlin,\n23.9.0.0/24,DE,DE-BE,Berlin,\n',
  })
  t.equal(finding('2a00:9::1').verdict.classification, 'residential_clean')
  t.equal(finding('23.9.0.1').verdict.classification, 'hosting', 'and a system that says more is believed')
})
