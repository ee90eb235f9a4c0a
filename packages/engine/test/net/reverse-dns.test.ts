import { formatAddress, type ReverseAnswer } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createDns } from '../../src/net/index.ts'
import { openNameServer, type Reply } from './name-server.ts'

async function resolveReverse(t: Test, reply: Reply, ip = '192.0.2.7', overTcp = reply === FORTY) {
  const server = await openNameServer(() => reply, { overTcp })
  t.teardown(server.close)
  // A busy machine may be late with an answer: silence alone is waited for.
  const timeoutMs = reply === 'silent' ? 300 : 30_000
  const answer = await createDns({ servers: [server.address], timeoutMs, tries: 1 }).resolvePtr(makeAddress(ip))
  return { answer, asked: server.asked }
}

const FORTY = Array.from({ length: 40 }, (_, index) => `host-number-${index}.example.net`)

const CASES: readonly (readonly [string, Reply, ReverseAnswer])[] = [
  ['one name', ['crawl.example.org'], { state: 'found', names: ['crawl.example.org'] }],
  ['40 names, which go over TCP', FORTY, { state: 'found', names: FORTY }],
  ['no such name', 'NXDOMAIN', { state: 'absent' }],
  ['no record', [], { state: 'absent' }],
  ['server failure', 'SERVFAIL', { state: 'failed', reason: 'ESERVFAIL' }],
  ['refusal', 'REFUSED', { state: 'failed', reason: 'EREFUSED' }],
  ['silence', 'silent', { state: 'failed', reason: 'ETIMEOUT' }],
]

for (const [name, reply, expected] of CASES) {
  t.test(name, async (t) => {
    const { answer } = await resolveReverse(t, reply)
    t.same(answer.state === 'found' ? { ...answer, names: [...answer.names].sort() } : answer, {
      ...expected,
      ...(expected.state === 'found' && { names: [...expected.names].sort() }),
    })
  })
}

t.test('an answer that is cut off and cannot be had whole is a failure', async (t) => {
  const { answer } = await resolveReverse(t, FORTY, '192.0.2.7', false)
  t.equal(answer.state, 'failed')
})

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
  const server = await openNameServer((type) => (type === 'A' ? ['192.0.2.7'] : 'SERVFAIL'))
  t.teardown(server.close)
  const dns = createDns({ servers: [server.address], timeoutMs: 30_000 })
  const four = await dns.resolve('www.example.org', 4)
  t.same(four.state === 'found' && four.addresses.map(formatAddress), ['192.0.2.7'])
  t.same(await dns.resolve('www.example.org', 6), { state: 'failed', reason: 'ESERVFAIL' })
  t.same(new Set(server.asked), new Set(['A www.example.org', 'AAAA www.example.org']))
})
