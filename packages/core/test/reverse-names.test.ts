import { REVERSE_NAME_RULES, REVERSE_NAME_WORDS } from '@sallyport/data/reverse-names'
import t from 'tap'
import { type Address, anonymises, classify, formatAddress } from '../src/index.ts'
import { networkReason } from '../src/inspection/network-reason.ts'
import { classRank } from '../src/network/precedence.ts'
import { createReverseNames, findReverseRule, findReverseWord } from '../src/network/reverse-names.ts'
import type { Observation, ReverseAnswer } from '../src/ports/index.ts'
import { createFakeClock, createFakeNetworks, makeAddress, makeSnapshot, makeSystem } from '../src/testing/fakes.ts'

const DAY_MS = 86_400_000

const HOME = { type: 'isp', networkClass: 'residential_clean' } as const
const SNAPSHOT = makeSnapshot({
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, type: 'hosting', networkClass: 'hosting' }) }],
    ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, ...HOME }) }],
    ['8.4.0.0/16', { system: makeSystem({ asn: 3320, ...HOME }) }],
    ['8.5.0.0/16', { system: makeSystem({ asn: 64_504, ...HOME, hostLike: true }) }],
    ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, type: 'vpn', networkClass: 'vpn' }) }],
  ]),
})

/** Names by address; `held` answers only when it is released. */
function setUp(names: Readonly<Record<string, ReverseAnswer | 'held'>>, put?: () => Promise<void>) {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const asked: string[] = []
  const kept = new Map<string, Observation>()
  const faults: unknown[] = []
  const held: (() => void)[] = []
  async function resolvePtr(of: Address): Promise<ReverseAnswer> {
    const text = formatAddress(of)
    asked.push(text)
    const answer = names[text] ?? { state: 'absent' }
    if (answer !== 'held') return answer
    await new Promise<void>((resolve) => held.push(resolve))
    return { state: 'absent' }
  }
  const store: Parameters<typeof createReverseNames>[0]['store'] = {
    put: put ?? (async ({ address }, observation) => void kept.set(formatAddress(address), observation)),
  }
  const reverse = createReverseNames({ clock, dns: { resolvePtr }, store, onFault: (error) => faults.push(error) })
  const offer = (text: string) => reverse.offer(makeAddress(text), classify(makeAddress(text), SNAPSHOT))
  const meet = async (...texts: readonly string[]) => {
    texts.forEach(offer)
    await reverse.settled()
  }
  return { clock, asked, kept, faults, held, reverse, offer, meet }
}

const named = (...names: readonly string[]): ReverseAnswer => ({ state: 'found', names })

t.test('names of services are known by their domain, others are not', async (t) => {
  for (const [name, networkClass, provider] of [
    ['de-fra-001.relays.mullvad.net', 'vpn', 'Mullvad VPN'],
    ['Mullvad.net.', 'vpn', 'Mullvad VPN'],
    ['notmullvad.net', undefined],
    ['mullvad.net.example.com', undefined],
    ['tor-exit-01.example.org', 'tor', ''],
    ['example-tor-exit.org', undefined],
    ['vpn.example.com', undefined],
    ['', undefined],
  ] as const) {
    const rule = findReverseRule(name)
    t.equal(rule?.networkClass, networkClass, name)
    if (provider !== undefined) t.equal(rule?.provider, provider, name)
  }
  t.equal(findReverseRule(`${'a.'.repeat(2_000)}mullvad.net`)?.networkClass, 'vpn', 'long names cost no more than time')
})

t.test('no rule makes anybody look cleaner, for the holder of an address writes its name', async (t) => {
  t.ok(REVERSE_NAME_RULES.length > 0)
  t.same(
    REVERSE_NAME_RULES.filter(({ networkClass, domain, labelStart }) => {
      const isOneOfTwo = (domain === undefined) !== (labelStart === undefined)
      return !anonymises(networkClass) || !isOneOfTwo || !/^[a-z0-9.-]{3,}$/.test(domain ?? labelStart ?? '')
    }),
    [],
  )
})

t.test('a name that says something is kept for a week', async (t) => {
  const { meet, kept, clock } = setUp({ '8.1.0.1': named('x.example.com', 'us1.nordvpn.com') })
  await meet('8.1.0.1')
  const about = { origin: 'reverse-name', setAt: clock.now(), expiresAt: clock.now() + 7 * DAY_MS }
  t.same(kept.get('8.1.0.1'), { ...about, networkClass: 'vpn', provider: 'NordVPN', note: 'us1.nordvpn.com' })
})

t.test('only where it could change something, and once a week', async (t) => {
  const { meet, asked, kept, clock } = setUp({ '8.1.0.2': { state: 'failed', reason: 'ETIMEOUT' } })
  await meet('8.2.0.1', '8.3.0.1', '127.0.0.1', '10.0.0.1')
  t.same(asked, [], 'home lines, known VPNs and reserved addresses are not asked')
  await meet('8.1.0.1', '8.1.0.1', '8.1.0.2', '9.9.9.9')
  t.same(asked, ['8.1.0.1', '8.1.0.2', '9.9.9.9'])
  t.equal(kept.size, 0)
  clock.advance(7 * DAY_MS - 1)
  await meet('8.1.0.1')
  t.equal(asked.length, 3)
  clock.advance(1)
  await meet('8.1.0.1')
  t.equal(asked.length, 4)
})

t.test('words say a class over a weaker one alone, and not in the name of a company', async (t) => {
  for (const { networkClass, over, words } of REVERSE_NAME_WORDS) {
    for (const weaker of over)
      t.ok(classRank(networkClass) < classRank(weaker), `${networkClass} is stricter than ${weaker}`)
    t.ok(words.every((word) => /^[a-z0-9]*[a-z]$/.test(word)))
  }
  for (const [name, over, networkClass] of [
    ['vps-12.fra.example.net', 'unknown', 'hosting'],
    ['vps12.example.net.', 'residential_clean', 'hosting'],
    ['vps12.example.net', 'mobile', undefined],
    // These are the name of the company, and a part of a word.
    ['a.vps.net', 'unknown', undefined],
    ['observer.example.net', 'unknown', undefined],
    ['p5098.dip.lte.example.de', 'residential_clean', 'mobile'],
    ['p5098.dip.lte.example.de', 'unknown', undefined],
    ['tmo-001-002.customers.example.com', 'residential_clean', 'mobile'],
    ['pw001.8.panda-world.ne.jp', 'residential_clean', 'mobile'],
  ] as const)
    t.equal(findReverseWord(name, over)?.networkClass, networkClass, name)
})

t.test('a carrier’s pool is asked about once, and a name of SIM cards holds for all of it', async (t) => {
  const { meet, asked, kept } = setUp({
    '8.4.1.7': named('ip-8-4-1-7.lte.example.de'),
    '8.4.2.7': named('dsl-8-4-2-7.example.de'),
    '9.9.9.9': named('vps7.example.net'),
  })
  await meet('8.4.1.7', '8.4.1.8', '8.4.2.7', '9.9.9.9', '8.2.0.1')
  t.same(asked, ['8.4.1.7', '8.4.2.7', '9.9.9.9'], 'one of a /24, and no line of a company without SIM cards')
  t.match(Object.fromEntries(kept), { '8.4.1.0': { networkClass: 'mobile' }, '9.9.9.9': { networkClass: 'hosting' } })
  t.equal(kept.size, 2)
  const seen = (networkClass: 'mobile' | 'hosting') => ({
    find: () => ({ networkClass, origin: 'reverse-name', provider: '', setAt: 0, note: '' }) as const,
  })
  const readClass = (text: string, networkClass: 'mobile' | 'hosting') =>
    classify(makeAddress(text), { ...SNAPSHOT, observations: seen(networkClass) }).verdict.classification
  t.equal(readClass('8.4.1.9', 'mobile'), 'mobile')
  t.equal(readClass('9.9.9.9', 'hosting'), 'hosting')
  t.equal(readClass('8.3.0.1', 'hosting'), 'vpn', 'words never hide what the data says')
  t.equal(readClass('8.1.0.1', 'mobile'), 'hosting')
})

t.test('a server’s name beside another sign leaves a line in doubt, and alone says nothing', async (t) => {
  const names = { '8.5.0.1': named('vps3.example.net'), '8.5.0.2': named('dsl-2.example.net') }
  const { meet, asked, kept } = setUp(names)
  await meet('8.5.0.1', '8.5.0.2', '8.2.0.1')
  t.same(asked, ['8.5.0.1', '8.5.0.2'], 'a line against which nothing speaks is not asked')
  t.same([...kept.keys()], ['8.5.0.1'])
  const found = (text: string, networks = SNAPSHOT) =>
    classify(makeAddress(text), { ...networks, observations: { find: (of) => kept.get(formatAddress(of)) } })
  t.match(found('8.5.0.1'), { verdict: { classification: 'residential_clean', confidence: 0.5 }, machineSigns: 2 })
  t.match(networkReason(found('8.5.0.1')).text, /signs point to a server/)
  t.match(found('8.5.0.2'), { verdict: { confidence: 0.6 }, machineSigns: 1 })
  for (const line of ['8.2.0.1', '9.9.9.9']) kept.set(line, kept.get('8.5.0.1') as Observation)
  t.match(found('8.2.0.1'), { verdict: { classification: 'residential_clean', confidence: 0.6 }, machineSigns: 1 })
  t.notMatch(networkReason(found('8.2.0.1')).text, /machine/)
  t.equal(found('9.9.9.9').verdict.classification, 'hosting', 'where nothing is known it is the class')
})

t.test('few questions at once, a bounded queue, and an end', async (t) => {
  const visitors = Array.from({ length: 600 }, (_, index) => `8.1.${index >> 8}.${index & 255}`)
  const { offer, reverse, asked, held } = setUp(Object.fromEntries(visitors.map((visitor) => [visitor, 'held'])))
  for (const visitor of visitors) offer(visitor)
  t.equal(asked.length, 4)
  const closed = reverse.close()
  for (const release of held) release()
  await closed
  t.equal(asked.length, 4, 'what waited was forgotten')
  const again = setUp(Object.fromEntries(visitors.map((visitor) => [visitor, named('x.example.com')])))
  await again.meet(...visitors)
  t.equal(again.asked.length, 504, 'four at once, five hundred waiting; the rest at a later visit')
})

t.test('a store that fails is reported, and the address is asked again', async (t) => {
  const fault = new Error('disk full')
  const put = () => Promise.reject(fault)
  const { meet, asked, faults } = setUp({ '8.1.0.1': named('us1.nordvpn.com') }, put)
  await meet('8.1.0.1')
  t.same(faults, [fault])
  await meet('8.1.0.1')
  t.equal(asked.length, 2)
})
