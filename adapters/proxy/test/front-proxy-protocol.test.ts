import t, { type Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { NO_OPENSSL, siteTls } from './certificate.ts'
import { askedHttp2 } from './http2-client.ts'
import { NO_HAPROXY, NO_NGINX_STREAM, startHaproxy, startNginxStream } from './programs.ts'
import { VISITOR } from './sallyport.ts'
import { securedOver } from './tls-client.ts'
import { dial, get, OK, readStatus, readUntil, send, until } from './wire.ts'

/* HAProxy and the stream module of nginx send the PROXY protocol before TLS and before plain HTTP. */

type Version = 'v1' | 'v2'

type StartFront = (t: Test, port: string) => Promise<string>

const SEND = { v1: 'send-proxy', v2: 'send-proxy-v2' } as const

const haproxy =
  (version: Version): StartFront =>
  (t, port) =>
    startHaproxy(t, (own) => `listen a\n bind 127.0.0.1:${own.port}\n server b 127.0.0.1:${port} ${SEND[version]}`)

const nginx: StartFront = (t, port) =>
  startNginxStream(
    t,
    (own) => `server { listen 127.0.0.1:${own.port}; proxy_pass 127.0.0.1:${port}; proxy_protocol on; }`,
  )

const FRONTS: readonly (readonly [name: string, Version, StartFront, skip: string | false])[] = [
  ['HAProxy with v1', 'v1', haproxy('v1'), NO_HAPROXY],
  ['HAProxy with v2', 'v2', haproxy('v2'), NO_HAPROXY],
  ['nginx stream', 'v1', nginx, NO_NGINX_STREAM],
]

/** The proxy trusts only the address that the front server connects from; visitors have another loopback address. */
const FRONT_ADDRESS = '127.0.0.1/32'
const VISITOR_ADDRESS = '127.0.0.7'

async function behindFront(t: Test, version: Version, startFront: StartFront, options: BeforeOptions = {}) {
  const before = await proxyBefore(t, OK, { trust: [FRONT_ADDRESS], proxyProtocol: version, ...options })
  const front = await startFront(t, new URL(before.url).port)
  // Whether the front listens was asked by connecting, which comes here too.
  before.refused.length = 0
  return { ...before, front }
}

for (const [name, version, startFront, skip] of FRONTS) {
  t.test(`${name} before TLS and before plain HTTP`, { skip: skip || NO_OPENSSL }, async (t) => {
    const forged = get('/', `X-Forwarded-For: ${VISITOR.blocked}`)
    const { front, sallyport, refused } = await behindFront(t, version, startFront, { tls: siteTls(t) })
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const client = await securedOver(await dial(front, VISITOR_ADDRESS), { maxVersion })
      client.write(forged)
      t.equal(readStatus(await readUntil(client)), 200)
    }
    const client = await securedOver(await dial(front, VISITOR_ADDRESS), { ALPNProtocols: ['h2'] })
    t.equal(await askedHttp2(client), 200)
    const known = sallyport.asked.map(({ peer, ja4 }) => `${peer} ${ja4?.slice(0, 3)}`)
    t.same(
      known,
      ['t12', 't13', 't13'].map((ja4) => `${VISITOR_ADDRESS} ${ja4}`),
    )
    t.same(refused, [])
    const plain = await behindFront(t, version, startFront)
    const visitor = await send(plain.front, forged, VISITOR_ADDRESS)
    t.equal(readStatus(await readUntil(visitor)), 200)
    t.match(plain.origin.heads[0], new RegExp(`^X-Forwarded-For: ${VISITOR_ADDRESS}\r$`, 'm'))
  })
}

t.test('health checks of HAProxy are answered', { skip: NO_HAPROXY || NO_OPENSSL }, async (t) => {
  const send = 'http-check send meth GET uri /alive ver HTTP/1.1 hdr Host site.example'
  for (const [version, over, asChecked] of [
    ['v1', {}, '127.0.0.1'],
    ['v2', { tls: siteTls(t) }, ''],
  ] as const) {
    const ssl = 'tls' in over ? 'check-ssl verify none' : ''
    const start: StartFront = (t, port) =>
      startHaproxy(t, (own) => {
        const server = `server gate 127.0.0.1:${port} ${SEND[version]} check inter 100 fall 1 rise 2 ${ssl}`
        const http = `option httpchk\n ${send}\n http-check expect status 200`
        return `listen front\n bind 127.0.0.1:${own.port}\n ${http}\n ${server}`
      })
    const { origin, sallyport, front, refused } = await behindFront(t, version, start, over)
    await until(() => origin.heads.filter((head) => head.startsWith('GET /alive ')).length >= 4)
    const peers = sallyport.asked.filter(({ target }) => target === '/alive').map(({ peer }) => peer)
    t.same(new Set(peers), new Set([asChecked]), 'with v1 HAProxy names itself')
    const visitor = 'tls' in over ? await securedOver(await dial(front)) : await dial(front)
    visitor.write(get('/'))
    t.equal(readStatus(await readUntil(visitor)), 200, 'the server is up')
    t.same(refused, [])
  }
})
