import { formatAddress } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createDns } from '../../src/net/index.ts'
import { openNameServer, type Reply } from './name-server.ts'

/** Resolves one name against a server that answers A and AAAA as given; addresses come back as text. */
async function resolveWith(t: Test, ipv4: Reply, ipv6: Reply, name = 'www.example.org') {
  const server = await openNameServer((type) => (type === 'A' ? ipv4 : ipv6))
  t.teardown(server.close)
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

t.test('a name is asked as it is: no search domain, no hosts file, no numeric form', async (t) => {
  for (const name of ['intranet', 'localhost', '127.1', '0x7f000001']) {
    const { asked, answer } = await resolveWith(t, 'NXDOMAIN', 'NXDOMAIN', name)
    t.strictSame([...new Set(asked)].sort(), [`A ${name}`, `AAAA ${name}`])
    t.strictSame(answer, { state: 'absent' }, name)
  }
})

t.test('a name that is absolute already is not made so twice', async (t) => {
  const { asked } = await resolveWith(t, V4, V6, 'www.example.org.')
  t.strictSame([...asked].sort(), ['A www.example.org', 'AAAA www.example.org'])
})

t.test('a name that no server can be asked for is a failure, not a throw', async (t) => {
  const { answer } = await resolveWith(t, V4, V6, `${'a'.repeat(64)}.example.org`)
  t.equal(answer.state, 'failed')
})

t.test('a question that was lost is put again', async (t) => {
  const seen = new Set<string>()
  const server = await openNameServer((type) => {
    const lost = !seen.has(type)
    seen.add(type)
    return lost ? 'silent' : type === 'A' ? V4 : []
  })
  t.teardown(server.close)
  const answer = await createDns({ servers: [server.address], timeoutMs: 3_000 }).resolve('www.example.org')
  t.equal(answer.state, 'found')
})

t.test('a server that is not there is a failure', async (t) => {
  const server = await openNameServer(() => 'silent')
  server.close()
  const answer = await createDns({ servers: [server.address], timeoutMs: 100 }).resolve('www.example.org')
  t.equal(answer.state, 'failed')
})
