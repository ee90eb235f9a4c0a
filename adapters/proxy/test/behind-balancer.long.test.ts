import { connect as connectTcp } from 'node:net'
import t, { type Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { askedHttp2, connectionWith, type Packets, securedOver } from './tls-client.ts'
import { dial, exchange, get, OK, readStatus, readUntil } from './wire.ts'

const skip = NO_OPENSSL
const V2_START = '\r\n\r\n\0\r\nQUIT\n'
const V1_UNKNOWN = 'PROXY UNKNOWN\r\n'

function v1(address: string): string {
  return `PROXY TCP4 ${address} 192.0.2.1 4711 443\r\n`
}

function v2(address: string): string {
  return v2Header(0x21, 0x11, [...address.split('.').map(Number), 192, 0, 2, 1, 0x12, 0x67, 1, 187])
}

function v2Header(command: number, family: number, rest: readonly number[] = []): string {
  return V2_START + Buffer.from([command, family, rest.length >> 8, rest.length & 0xff, ...rest]).toString('latin1')
}

const NAMED = { v1, v2 } as const

/** Connections whose client is not known, by version. */
const UNKNOWN: readonly (readonly ['v1' | 'v2', string, string])[] = [
  ['v1', 'UNKNOWN', V1_UNKNOWN],
  ['v1', 'UNKNOWN with addresses', `PROXY UNKNOWN ${VISITOR.allowed} 192.0.2.1 4711 443\r\n`],
  ['v2', 'LOCAL', v2Header(0x20, 0)],
  ['v2', 'LOCAL with addresses', v2(VISITOR.allowed).replace('\x21\x11', '\x20\x11')],
  ['v2', 'no family', v2Header(0x21, 0)],
  ['v2', 'a Unix socket', v2Header(0x21, 0x31, Array(216).fill(47))],
]

async function behindBalancer(t: Test, proxyProtocol: 'v1' | 'v2', options: ProxyOptions = {}) {
  const refused: string[] = []
  const sallyport = fakeSallyport({ trust: ['loopback'] })
  const onRefused = (cause: string): void => void refused.push(cause)
  return { ...(await proxyBefore(t, OK, { sallyport, proxyProtocol, onRefused, ...options })), refused, sallyport }
}

function certificates(t: Test) {
  return { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
}

for (const version of ['v1', 'v2'] as const) {
  t.test(`TLS behind PROXY ${version}, in any packets`, { skip }, async (t) => {
    const { url, sallyport, refused } = await behindBalancer(t, version, { tls: certificates(t) })
    const header = NAMED[version](VISITOR.flagged)
    for (const packets of ['one', 'two', 'bytes'] satisfies readonly Packets[]) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const client = await securedOver(await connectionWith(url, header, packets), { maxVersion })
        t.equal(client.getProtocol(), maxVersion)
        client.write(get('/'))
        t.equal(readStatus(await readUntil(client)), 200)
      }
      const both = { ALPNProtocols: ['h2'] }
      t.equal(await askedHttp2(await securedOver(await connectionWith(url, header, packets), both)), 200)
    }
    t.equal(sallyport.asked.length, 9)
    t.same(new Set(sallyport.asked.map(({ peer }) => peer)), new Set([VISITOR.flagged]))
    t.same(new Set(sallyport.asked.map(({ scheme }) => scheme)), new Set(['https']))
    t.same(new Set(sallyport.asked.map(({ ja4 }) => ja4?.slice(0, 4))), new Set(['t12i', 't13i']))
    t.same(refused, [])
  })

  t.test(`the address of a PROXY ${version} header decides, over TLS and HTTP/2 too`, { skip }, async (t) => {
    const { url } = await behindBalancer(t, version, { tls: certificates(t) })
    const forged = `X-Forwarded-For: ${VISITOR.allowed}`
    const client = await securedOver(await connectionWith(url, NAMED[version](VISITOR.blocked)))
    client.write(get('/', forged))
    t.equal(readStatus(await readUntil(client)), 403)
    const connection = await connectionWith(url, NAMED[version](VISITOR.blocked))
    t.equal(await askedHttp2(await securedOver(connection, { ALPNProtocols: ['h2'] })), 403)
  })
}

t.test('a connection whose client is not known has none, and no header of it is believed', { skip }, async (t) => {
  const tls = certificates(t)
  const fields = [
    `X-Forwarded-For: ${VISITOR.blocked}`,
    `X-Real-IP: ${VISITOR.blocked}`,
    `Forwarded: for=${VISITOR.blocked}`,
    'X-Forwarded-Proto: https',
    'X-Request-Id: chosen',
  ]
  for (const [version, name, header] of UNKNOWN) {
    await t.test(`${version} ${name}`, async (t) => {
      const { url, sallyport, origin } = await behindBalancer(t, version)
      t.equal(readStatus(await exchange(url, header + get('/', ...fields))), 200, 'it is served')
      const over = await behindBalancer(t, version, { tls })
      const client = await securedOver(await connectionWith(over.url, header))
      client.write(get('/', ...fields))
      t.equal(readStatus(await readUntil(client)), 200, 'over TLS too')
      const both = { ALPNProtocols: ['h2'] }
      t.equal(await askedHttp2(await securedOver(await connectionWith(over.url, header), both)), 200)
      for (const { peer, id } of [...sallyport.asked, ...over.sallyport.asked]) {
        t.equal(peer, '')
        t.not(id, 'chosen')
      }
      for (const { inspection } of [...sallyport.decided, ...over.sallyport.decided]) {
        t.match(inspection, {
          client: { address: '', via: 'none' },
          network: { verdict: { classification: 'unknown', confidence: 0 } },
        })
      }
      for (const head of [...origin.heads, ...over.origin.heads]) {
        t.notMatch(head, VISITOR.blocked)
        t.notMatch(head, /^(?:x-forwarded-for|x-real-ip|forwarded):/im)
      }
      t.match(origin.heads[0], /^X-Forwarded-Proto: http\r$/m, 'the scheme is that of the connection')
    })
  }
})

t.test('a connection that sends its header alone ends by the next clock', { skip }, async (t) => {
  const over = await behindBalancer(t, 'v1', { tls: certificates(t), timeouts: { clientHello: 100, header: 60_000 } })
  t.match(await exchange(over.url, v1(VISITOR.allowed)), /^HTTP\/1\.1 400 /)
  t.same(over.refused, ['client_hello'])
  const plain = await behindBalancer(t, 'v1', { timeouts: { header: 500 } })
  t.equal(readStatus(await exchange(plain.url, v1(VISITOR.allowed))), 408)
  t.equal(await exchange(plain.url, 'PROXY TCP4'), '')
  t.same(plain.refused, ['head', 'proxy_header'])
})

/** How many connections of clients are open, as /metrics says. */
async function openConnections(adminUrl: string | undefined): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/^sallyport_connections (\d+)$/m.exec(text)?.[1])
}

t.test('a balancer that ends its half after the header, or within it, leaves nothing behind', { skip }, async (t) => {
  const { url, proxy, refused } = await behindBalancer(t, 'v1', { tls: certificates(t), http: '127.0.0.1:0' })
  for (const at of [url, proxy.httpUrl ?? '']) {
    for (const bytes of ['', 'PROXY ', V1_UNKNOWN, v1(VISITOR.allowed), `${v1(VISITOR.allowed)}\x16\x03\x01`]) {
      const socket = await dial(at)
      socket.end(Buffer.from(bytes, 'latin1'))
      await readUntil(socket)
    }
  }
  t.same(refused, ['head'], 'a hello is no request; clients that leave are none of those that were cut')
  while ((await openConnections(proxy.adminUrl)) > 0);
})

t.test('a connection that waits for its header counts among all, and does not hold up the end', async (t) => {
  const { url, proxy, refused } = await behindBalancer(t, 'v1', {
    limits: { connections: 1 },
    timeouts: { header: 60_000, drain: 0 },
  })
  const silent = await dial(url)
  while ((await openConnections(proxy.adminUrl)) === 0);
  const other = connectTcp(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.equal(await readUntil(other), '')
  t.same(refused, ['connections'])
  const ended = readUntil(silent)
  await proxy.close()
  t.equal(await ended, '')
})
