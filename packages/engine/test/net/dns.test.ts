import { formatAddress } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createDns } from '../../src/net/index.ts'
import { openNameServer, type Reply } from './name-server.ts'

/** Resolves one name against a server that answers A and AAAA as given; addresses come back as text. */
async function resolveWith(t: Test, ipv4: Reply, ipv6: Reply, name = 'www.example.org') {
  const server = await openNameServer(t, (type) => (type === 'A' ? ipv4 : ipv6))
  // Only a server that says nothing is waited for by the clock.
  const timeoutMs = ipv4 === 'silent' || ipv6 === 'silent' ? 300 : 30_000
  const answer = await createDns({ servers: [server.address], timeoutMs }).resolve(name)
  return {
    asked: server.asked,
    answer: answer.state === 'found' ? { ...answer, addresses: answer.addresses.map(formatAddress) } : answer,
  }
}

const V4 = ['192.0.2.7', '192.0.2.8'] as const
const V6 = ['2001:db8::7'] as const

const CASES: readonly (readonly [string, Reply, Reply, object])[] = [
  ['both families', V4, V6, { state: 'found', addresses: [...V4, ...V6] }],
  ['IPv4 only', V4, [], { state: 'found', addresses: V4 }],
  ['IPv6 only', [], V6, { state: 'found', addresses: V6 }],
  ['an IPv4-mapped AAAA is the IPv4 address', [], ['::ffff:192.0.2.9'], { state: 'found', addresses: ['192.0.2.9'] }],
  ['no such name', 'NXDOMAIN', 'NXDOMAIN', { state: 'absent' }],
  ['a name without addresses', [], [], { state: 'absent' }],
  ['server failure', 'SERVFAIL', 'SERVFAIL', { state: 'failed', reason: 'ESERVFAIL' }],
  ['refusal', 'REFUSED', 'REFUSED', { state: 'failed', reason: 'EREFUSED' }],
  ['silence', 'silent', 'silent', { state: 'failed', reason: 'ETIMEOUT' }],
  ['one family found, the other failed', V4, 'SERVFAIL', { state: 'found', addresses: V4 }],
  ['one family empty, the other failed', [], 'SERVFAIL', { state: 'failed', reason: 'ESERVFAIL' }],
  ['one family failed, the other says no such name', 'silent', 'NXDOMAIN', { state: 'failed', reason: 'ETIMEOUT' }],
]

for (const [name, ipv4, ipv6, expected] of CASES) {
  t.test(name, async (t) => {
    const { answer } = await resolveWith(t, ipv4, ipv6)
    t.strictSame(answer, expected)
  })
}

t.test('a name is asked as it is, and a name that no server can be asked for is a failure', async (t) => {
  for (const name of ['intranet', 'localhost', '127.1', '0x7f000001', 'www.example.org.']) {
    const { asked, answer } = await resolveWith(t, 'NXDOMAIN', 'NXDOMAIN', name)
    const question = name.replace(/\.$/, '')
    t.strictSame([...new Set(asked)].sort(), [`A ${question}`, `AAAA ${question}`])
    t.strictSame(answer, { state: 'absent' }, name)
  }
  const { answer } = await resolveWith(t, V4, V6, `${'a'.repeat(64)}.example.org`)
  t.equal(answer.state, 'failed')
})

t.test('a question that was lost is put again', async (t) => {
  const seen = new Set<string>()
  const server = await openNameServer(t, (type) => {
    const lost = !seen.has(type)
    seen.add(type)
    return lost ? 'silent' : type === 'A' ? V4 : []
  })
  const answer = await createDns({ servers: [server.address], timeoutMs: 3_000 }).resolve('www.example.org')
  t.equal(answer.state, 'found')
})

async function resolveReverse(t: Test, reply: Reply, ip = '192.0.2.7') {
  const server = await openNameServer(t, () => reply, { overTcp: reply === FORTY })
  // A busy machine may be late with an answer: silence alone is waited for.
  const timeoutMs = reply === 'silent' ? 300 : 30_000
  const answer = await createDns({ servers: [server.address], timeoutMs, tries: 1 }).resolvePtr(makeAddress(ip))
  return { answer, asked: server.asked }
}

const FORTY = Array.from({ length: 40 }, (_, index) => `host-number-${index}.example.net`)

const REVERSE: readonly (readonly [string, Reply, { readonly state: string; readonly reason?: string }])[] = [
  ['one name', ['crawl.example.org'], { state: 'found' }],
  ['40 names, which go over TCP', FORTY, { state: 'found' }],
  ['no such name', 'NXDOMAIN', { state: 'absent' }],
  ['no record', [], { state: 'absent' }],
  ['server failure', 'SERVFAIL', { state: 'failed', reason: 'ESERVFAIL' }],
  ['refusal', 'REFUSED', { state: 'failed', reason: 'EREFUSED' }],
  ['silence', 'silent', { state: 'failed', reason: 'ETIMEOUT' }],
]

for (const [name, reply, expected] of REVERSE) {
  t.test(`reverse: ${name}`, async (t) => {
    const { answer } = await resolveReverse(t, reply)
    t.equal(answer.state, expected.state)
    if (answer.state === 'found') t.same(new Set(answer.names), new Set(reply))
    else t.same(answer, expected)
  })
}

t.test('the question is the address in the reverse zone, absolute', async (t) => {
  for (const [ip, zone] of [
    ['66.249.66.1', '1.66.249.66.in-addr.arpa'],
    ['::ffff:66.249.66.1', '1.66.249.66.in-addr.arpa'],
    ['0.0.0.255', '255.0.0.0.in-addr.arpa'],
    ['2001:4860:4801:10::7f', 'f.7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.1.0.8.4.0.6.8.4.1.0.0.2.ip6.arpa'],
  ] as const) {
    const { asked } = await resolveReverse(t, 'NXDOMAIN', ip)
    t.same(asked, [`PTR ${zone}`], ip)
  }
})

t.test('one family alone is asked for where one is wanted, and the other cannot hide that it failed', async (t) => {
  const server = await openNameServer(t, (type) => (type === 'A' ? ['192.0.2.7'] : 'SERVFAIL'))
  const dns = createDns({ servers: [server.address], timeoutMs: 30_000 })
  const four = await dns.resolve('www.example.org', 4)
  t.same(four.state === 'found' && four.addresses.map(formatAddress), ['192.0.2.7'])
  t.same(await dns.resolve('www.example.org', 6), { state: 'failed', reason: 'ESERVFAIL' })
  t.same(new Set(server.asked), new Set(['A www.example.org', 'AAAA www.example.org']))
})
