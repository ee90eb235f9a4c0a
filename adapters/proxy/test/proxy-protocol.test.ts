import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { proxyHeaderReader } from '../src/edge/proxy-header.ts'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { dial, exchange, get, OK, readStatus, readUntil } from './wire.ts'

const V2_START = '\r\n\r\n\0\r\nQUIT\n'

function v1(source: string, family = 'TCP4', destination = '192.0.2.1'): string {
  return `PROXY ${family} ${source} ${destination} 4711 443\r\n`
}

/** A binary header of an IPv4 connection; `told` is what else a load balancer says. */
function v2(source: string, { told = '', command = 0x21, family = 0x11 } = {}): string {
  const addresses = Buffer.from([...source.split('.').map(Number), 192, 0, 2, 1, 0x12, 0x67, 1, 187])
  const length = addresses.length + told.length
  return V2_START + Buffer.from([command, family, length >> 8, length & 0xff, ...addresses]).toString('latin1') + told
}

async function behindBalancer(
  t: Test,
  proxyProtocol: 'v1' | 'v2',
  { trust = ['loopback'], ...options }: ProxyOptions & { readonly trust?: readonly string[] | undefined } = {},
) {
  const refused: string[] = []
  const sallyport = fakeSallyport({ trust })
  const onRefused = (cause: string): void => void refused.push(cause)
  return { ...(await proxyBefore(t, OK, { sallyport, proxyProtocol, onRefused, ...options })), refused, sallyport }
}

t.test('the peer is the one that the header names', async (t) => {
  for (const [version, header] of [
    ['v1', v1(VISITOR.blocked)],
    ['v2', v2(VISITOR.blocked)],
    ['v2', v2(VISITOR.blocked, { told: '\x04\x00\x20'.padEnd(600, 'x') })],
  ] as const) {
    const { url, sallyport } = await behindBalancer(t, version)
    t.equal(readStatus(await exchange(url, header + get('/'))), 403)
    t.equal(sallyport.asked[0]?.peer, VISITOR.blocked)
    t.equal(readStatus(await exchange(url, header.replace(...visitors(version)) + get('/'))), 200)
  }
})

/** The address of the blocked visitor, and of the allowed one, as a header has them. */
function visitors(version: 'v1' | 'v2'): [string, string] {
  if (version === 'v1') return [VISITOR.blocked, VISITOR.allowed]
  return [String.fromCharCode(23, 0, 0, 1), String.fromCharCode(21, 0, 0, 1)]
}

t.test('no header of its client is believed that the named peer may not send', async (t) => {
  const { url, sallyport } = await behindBalancer(t, 'v1')
  const forged = `X-Forwarded-For: ${VISITOR.allowed}`
  t.equal(readStatus(await exchange(url, v1(VISITOR.blocked) + get('/', forged))), 403)
  const trusted = await behindBalancer(t, 'v1', { trust: ['loopback', '24.0.0.0/8'] })
  t.equal(readStatus(await exchange(trusted.url, v1('24.0.0.1') + get('/', forged))), 200, 'one that is trusted may')
  t.equal(sallyport.asked[0]?.peer, VISITOR.blocked)
})

t.test('it counts as the client of its connections', async (t) => {
  const { url, refused } = await behindBalancer(t, 'v1', { limits: { connectionsPerClient: 2 } })
  const open = async (address: string): Promise<Socket | undefined> => {
    const socket = await dial(url)
    socket.write(`${v1(address)}GET / HTTP/1.1\r\nHost: a\r\n\r\n`)
    return (await readUntil(socket, /ok$/)) === '' ? undefined : socket
  }
  const held = [await open('21.0.0.1'), await open('21.0.0.1'), await open('21.0.0.2')]
  t.notOk(held.includes(undefined))
  t.equal(await open('21.0.0.1'), undefined, 'the third of one client')
  t.same(refused, ['connections'])
  for (const socket of held) socket?.destroy()
})

t.test('a peer that is not trusted, and a connection without a header, are cut', async (t) => {
  const stranger = await behindBalancer(t, 'v1', { trust: [] })
  const socket = connect(Number(new URL(stranger.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(v1(VISITOR.allowed) + get('/'))
  t.equal(await readUntil(socket), '')
  t.same(stranger.refused, ['proxy_header'])
  const { url, refused, origin } = await behindBalancer(t, 'v1', { timeouts: { header: 100 } })
  for (const bytes of [get('/'), v2(VISITOR.allowed) + get('/'), v1('21.0.0.1', 'TCP6') + get('/')]) {
    t.equal(await exchange(url, bytes), '')
  }
  t.equal(await exchange(url, 'PROXY TCP4 21.0.0.1 '), '', 'one that does not go on')
  t.equal(await exchange(url, `PROXY UNKNOWN ${'x'.repeat(200)}`), '', 'one that never ends')
  t.same(refused, Array(5).fill('proxy_header'))
  t.same(origin.heads, [])
})

t.test('a header that comes byte by byte', async (t) => {
  for (const [version, header] of [
    ['v1', v1(VISITOR.flagged)],
    ['v2', v2(VISITOR.flagged)],
  ] as const) {
    const { url, sallyport } = await behindBalancer(t, version)
    const client = await dial(url)
    client.setNoDelay(true)
    for (const byte of Buffer.from(header + get('/'), 'latin1')) {
      client.write(Buffer.from([byte]))
      await new Promise(setImmediate)
    }
    t.equal(readStatus(await readUntil(client)), 200)
    t.equal(sallyport.asked[0]?.peer, VISITOR.flagged)
  }
})

t.test('the plain listener beside TLS asks for it too', async (t) => {
  const acme = { folder: '/nowhere', orders: false, domains: ['site.example'], email: 'ops@site.example' }
  const tls = { acme }
  const { proxy, sallyport } = await behindBalancer(t, 'v1', { tls, http: '127.0.0.1:0' })
  t.equal(readStatus(await exchange(proxy.httpUrl ?? '', v1(VISITOR.flagged) + get('/'))), 200)
  t.equal(sallyport.asked[0]?.peer, VISITOR.flagged)
})

t.test('the headers themselves', async (t) => {
  const first = proxyHeaderReader('v1')
  const second = proxyHeaderReader('v2')
  const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
  t.same(first(bytes(`${v1('2001:db8::1', 'TCP6', '2001:db8::2')}rest`)), {
    value: { address: '2001:db8::1', port: 4711 },
    used: v1('2001:db8::1', 'TCP6', '2001:db8::2').length,
  })
  const six = Buffer.alloc(52)
  six.write(V2_START, 'latin1')
  six.set([0x21, 0x21, 0, 36, 0x20, 0x01, 0x0d, 0xb8], 12)
  six[31] = 9
  six.writeUInt16BE(4711, 48)
  t.same(second(six), { value: { address: '2001:db8::9', port: 4711 }, used: 52 })
  for (const text of [
    'PROXY TCP4 21.0.0.1 192.0.2.1 4711\r\n',
    'PROXY TCP4 21.0.0.1 192.0.2.1 4711 443 x\r\n',
    'PROXY TCP4 021.0.0.1 192.0.2.1 4711 443\r\n',
    'PROXY TCP4 21.0.0.1 192.0.2.1 04711 443\r\n',
    'PROXY TCP4 21.0.0.1 192.0.2.1 70000 443\r\n',
    'PROXY TCP4  21.0.0.1 192.0.2.1 4711 443\r\n',
    'PROXY UDP4 21.0.0.1 192.0.2.1 4711 443\r\n',
    'proxy TCP4 21.0.0.1 192.0.2.1 4711 443\r\n',
  ]) {
    t.throws(() => first(bytes(text)), text)
  }
  for (const wrong of [
    v2('21.0.0.1', { command: 0x11 }),
    v2('21.0.0.1', { command: 0x22 }),
    v2('21.0.0.1', { family: 0x12 }),
    v2('21.0.0.1', { family: 0x30 }),
    v2('21.0.0.1', { family: 0x10 }),
    v2('21.0.0.1', { family: 0x21 }),
    v2('21.0.0.1', { told: 'x'.repeat(5_000) }),
  ]) {
    t.throws(() => second(bytes(wrong)))
  }
})
