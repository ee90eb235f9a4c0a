import { connect } from 'node:net'
import t from 'tap'
import { proxyHeaderReader } from '../src/edge/proxy-header.ts'
import { v1, v2, v2Header } from './balancer.ts'
import { proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus, readUntil } from './wire.ts'

t.test('the peer is the one that the header names', async (t) => {
  const told = { told: [4, 0, 32, ...Buffer.alloc(600, 'x')] }
  for (const [proxyProtocol, write] of [
    ['v1', v1],
    ['v2', v2],
    ['v2', (source: string) => v2(source, told)],
  ] as const) {
    const { url, sallyport } = await proxyBefore(t, OK, { proxyProtocol })
    t.equal(readStatus(await exchange(url, write(VISITOR.blocked) + get('/'))), 403)
    t.equal(sallyport.asked[0]?.peer, VISITOR.blocked)
    t.equal(readStatus(await exchange(url, write(VISITOR.allowed) + get('/'))), 200)
  }
})

t.test('no header of its client is believed that the named peer may not send', async (t) => {
  const forged = `X-Forwarded-For: ${VISITOR.allowed}`
  const { url } = await proxyBefore(t, OK, { proxyProtocol: 'v1' })
  t.equal(readStatus(await exchange(url, v1(VISITOR.blocked) + get('/', forged))), 403)
  const trusted = await proxyBefore(t, OK, { proxyProtocol: 'v1', trust: ['loopback', '24.0.0.0/8'] })
  t.equal(readStatus(await exchange(trusted.url, v1('24.0.0.1') + get('/', forged))), 200, 'one that is trusted may')
})

t.test('a peer that is not trusted, and a connection without a header, are cut', async (t) => {
  const stranger = await proxyBefore(t, OK, { proxyProtocol: 'v1', trust: [] })
  const socket = connect(Number(new URL(stranger.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(v1(VISITOR.allowed) + get('/'))
  t.equal(await readUntil(socket), '')
  t.same(stranger.refused, ['proxy_header'])
  const { url, refused, origin } = await proxyBefore(t, OK, { proxyProtocol: 'v1', timeouts: { header: 100 } })
  for (const bytes of [get('/'), v2(VISITOR.allowed) + get('/'), v1('21.0.0.1', 'TCP6') + get('/')]) {
    t.equal(await exchange(url, bytes), '')
  }
  t.equal(await exchange(url, 'PROXY TCP4 21.0.0.1 '), '', 'one that does not go on')
  t.equal(await exchange(url, `PROXY UNKNOWN ${'x'.repeat(200)}`), '', 'one that never ends')
  t.same(refused, Array(5).fill('proxy_header'))
  t.same(origin.heads, [])
})

t.test('the plain listener beside TLS asks for it too', async (t) => {
  const acme = { folder: '/nowhere', orders: false, domains: ['site.example'], email: 'ops@site.example' }
  const { proxy, sallyport } = await proxyBefore(t, OK, { proxyProtocol: 'v1', tls: { acme }, http: '127.0.0.1:0' })
  t.equal(readStatus(await exchange(proxy.httpUrl ?? '', v1(VISITOR.flagged) + get('/'))), 200)
  t.equal(sallyport.asked[0]?.peer, VISITOR.flagged)
})

t.test('the headers themselves', async (t) => {
  const [first, second] = [proxyHeaderReader('v1'), proxyHeaderReader('v2')]
  const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
  const named = v1('2001:db8::1', 'TCP6', '2001:db8::2')
  t.same(first(bytes(`${named}rest`)), { value: { address: '2001:db8::1', port: 4711 }, used: named.length })
  const six = [0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 9, ...Array(16).fill(0), 0x12, 0x67, 0, 0]
  t.same(second(bytes(v2Header(0x21, 0x21, six))), { value: { address: '2001:db8::9', port: 4711 }, used: 52 })
  for (const text of [
    'PROXY TCP4 21.0.0.1 192.0.2.1 4711',
    'PROXY TCP4 21.0.0.1 192.0.2.1 4711 443 x',
    'PROXY TCP4 021.0.0.1 192.0.2.1 4711 443',
    'PROXY TCP4 21.0.0.1 192.0.2.1 04711 443',
    'PROXY TCP4 21.0.0.1 192.0.2.1 70000 443',
    'PROXY UDP4 21.0.0.1 192.0.2.1 4711 443',
    'proxy TCP4 21.0.0.1 192.0.2.1 4711 443',
  ])
    t.throws(() => first(bytes(`${text}\r\n`)), text)
  for (const wrong of [{ command: 0x11 }, { command: 0x22 }, { family: 0x12 }, { family: 0x30 }, { family: 0x21 }])
    t.throws(() => second(bytes(v2('21.0.0.1', wrong))), JSON.stringify(wrong))
  t.throws(() => second(bytes(v2('21.0.0.1', { told: Array(5_000).fill(0) }))), 'one without an end')
})
