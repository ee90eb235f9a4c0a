import { connect as connectTcp } from 'node:net'
import t from 'tap'
import { v1, v2, v2Header } from './balancer.ts'
import { proxyBefore } from './behind.ts'
import { NO_OPENSSL, siteTls } from './certificate.ts'
import { askedHttp2 } from './http2-client.ts'
import { meteredSallyport, VISITOR } from './sallyport.ts'
import { connectionWith, type Packets, securedOver } from './tls-client.ts'
import { dial, exchange, get, OK, readStatus, readUntil } from './wire.ts'

const skip = NO_OPENSSL
const V1_UNKNOWN = 'PROXY UNKNOWN\r\n'
const H2 = { ALPNProtocols: ['h2'] }

/** Connections whose client is not known, by version. */
const UNKNOWN: readonly (readonly ['v1' | 'v2', string, string])[] = [
  ['v1', 'UNKNOWN', V1_UNKNOWN],
  ['v1', 'UNKNOWN with addresses', `PROXY UNKNOWN ${VISITOR.allowed} 192.0.2.1 4711 443\r\n`],
  ['v2', 'LOCAL with addresses', v2(VISITOR.allowed, { command: 0x20 })],
  ['v2', 'no family', v2Header(0x21, 0)],
  ['v2', 'a Unix socket', v2Header(0x21, 0x31, Array(216).fill(47))],
]

for (const [proxyProtocol, write] of Object.entries({ v1, v2 }) as ['v1' | 'v2', (source: string) => string][]) {
  t.test(`TLS behind PROXY ${proxyProtocol}, in any packets`, { skip }, async (t) => {
    const { url, sallyport, refused } = await proxyBefore(t, OK, { proxyProtocol, tls: siteTls(t) })
    for (const packets of ['one', 'two', 'bytes'] satisfies readonly Packets[]) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const client = await securedOver(await connectionWith(url, write(VISITOR.flagged), packets), { maxVersion })
        t.equal(client.getProtocol(), maxVersion)
        client.write(get('/'))
        t.equal(readStatus(await readUntil(client)), 200)
      }
      t.equal(await askedHttp2(await securedOver(await connectionWith(url, write(VISITOR.flagged), packets), H2)), 200)
    }
    const facts = sallyport.asked.map(({ peer, scheme, ja4 }) => `${peer} ${scheme} ${ja4?.slice(0, 4)}`)
    t.equal(facts.length, 9)
    t.same(new Set(facts), new Set([`${VISITOR.flagged} https t12i`, `${VISITOR.flagged} https t13i`]))
    t.same(refused, [])
    const blocked = await securedOver(await connectionWith(url, write(VISITOR.blocked)))
    blocked.write(get('/', `X-Forwarded-For: ${VISITOR.allowed}`))
    t.equal(readStatus(await readUntil(blocked)), 403, 'the address of the header decides')
    t.equal(await askedHttp2(await securedOver(await connectionWith(url, write(VISITOR.blocked)), H2)), 403)
  })
}

t.test('a connection whose client is not known has none, and no header of it is believed', { skip }, async (t) => {
  const tls = siteTls(t)
  const claims = ['X-Forwarded-For: ', 'X-Real-IP: ', 'Forwarded: for='].map((claim) => claim + VISITOR.blocked)
  const fields = [...claims, 'X-Forwarded-Proto: https', 'X-Request-Id: chosen']
  for (const [proxyProtocol, name, header] of UNKNOWN) {
    const plain = await proxyBefore(t, OK, { proxyProtocol })
    t.equal(readStatus(await exchange(plain.url, header + get('/', ...fields))), 200, name)
    const over = await proxyBefore(t, OK, { proxyProtocol, tls })
    const client = await securedOver(await connectionWith(over.url, header))
    client.write(get('/', ...fields))
    t.equal(readStatus(await readUntil(client)), 200, 'over TLS too')
    t.equal(await askedHttp2(await securedOver(await connectionWith(over.url, header), H2)), 200)
    for (const { origin, sallyport } of [plain, over]) {
      t.ok(sallyport.asked.every(({ peer, id }) => peer === '' && id !== 'chosen'))
      for (const { inspection } of sallyport.decided) {
        const verdict = { classification: 'unknown', confidence: 0 }
        t.match(inspection, { client: { address: '', via: 'none' }, network: { verdict } })
      }
      t.notMatch(origin.heads.join(), VISITOR.blocked)
      t.notMatch(origin.heads.join(), /^(?:x-forwarded-for|x-real-ip|forwarded):/im)
    }
    t.match(plain.origin.heads[0], /^X-Forwarded-Proto: http\r$/m, 'the scheme is that of the connection')
  }
})

t.test('a connection that sends its header alone ends by the next clock', { skip }, async (t) => {
  const timeouts = { clientHello: 100, header: 60_000 }
  const over = await proxyBefore(t, OK, { proxyProtocol: 'v1', tls: siteTls(t), timeouts })
  t.match(await exchange(over.url, v1(VISITOR.allowed)), /^HTTP\/1\.1 400 /)
  t.same(over.refused, ['client_hello'])
  const plain = await proxyBefore(t, OK, { proxyProtocol: 'v1', timeouts: { header: 500 } })
  t.equal(readStatus(await exchange(plain.url, v1(VISITOR.allowed))), 408)
  t.same(plain.refused, ['head'])
})

async function openConnections(admin: string): Promise<number> {
  const text = await (await fetch(`${admin}/metrics`)).text()
  return Number(/^sallyport_connections (\d+)$/m.exec(text)?.[1])
}

t.test('a balancer that ends its half after the header, or within it, leaves nothing behind', { skip }, async (t) => {
  const options = { proxyProtocol: 'v1', tls: siteTls(t), http: '127.0.0.1:0' } as const
  const { url, admin, proxy, refused } = await proxyBefore(t, OK, { sallyport: meteredSallyport(), ...options })
  for (const at of [url, proxy.httpUrl ?? '']) {
    for (const bytes of ['', 'PROXY ', V1_UNKNOWN, v1(VISITOR.allowed), `${v1(VISITOR.allowed)}\x16\x03\x01`]) {
      const socket = await dial(at)
      socket.end(Buffer.from(bytes, 'latin1'))
      await readUntil(socket)
    }
  }
  t.same(refused, ['head'], 'a hello is no request; clients that leave are none of those that were cut')
  while ((await openConnections(admin)) > 0);
})

t.test('a connection that waits for its header counts among all, and does not hold up the end', async (t) => {
  const options = { proxyProtocol: 'v1', limits: { connections: 1 }, timeouts: { header: 60_000, drain: 0 } } as const
  const { url, admin, proxy, refused } = await proxyBefore(t, OK, { sallyport: meteredSallyport(), ...options })
  const silent = await dial(url)
  while ((await openConnections(admin)) === 0);
  const other = connectTcp(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.equal(await readUntil(other), '')
  t.same(refused, ['connections'])
  const ended = readUntil(silent)
  await proxy.close()
  t.equal(await ended, '')
})
