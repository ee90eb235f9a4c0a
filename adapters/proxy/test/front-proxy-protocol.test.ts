import t, { type Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { NO_HAPROXY, NO_NGINX_STREAM, startHaproxy, startNginxStream } from './front-programs.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { askedHttp2, securedOver } from './tls-client.ts'
import { dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

/* HAProxy and the stream module of nginx send the PROXY protocol before TLS and before plain HTTP. */

type Version = 'v1' | 'v2'
type Hops = 'TCP' | 'Unix'

/** Starts a server before the proxy at `port`: it connects directly, or a first hop hands all to a second over a Unix socket. */
type StartFront = (t: Test, port: string, hops: Hops) => Promise<string>

function haproxy(version: Version): StartFront {
  const send = version === 'v1' ? 'send-proxy' : 'send-proxy-v2'
  return (t, port, hops) =>
    startHaproxy(t, (own) => {
      const last = `server gate 127.0.0.1:${port} ${send}`
      if (hops === 'TCP') return `listen front\n bind 127.0.0.1:${own.port}\n ${last}`
      const socket = `${own.folder}/hop.sock`
      return `listen front\n bind 127.0.0.1:${own.port}\n server hop unix@${socket}\nlisten hop\n bind unix@${socket}\n ${last}`
    })
}

const nginx: StartFront = (t, port, hops) =>
  startNginxStream(t, (own) => {
    const last = `proxy_pass 127.0.0.1:${port}; proxy_protocol on;`
    if (hops === 'TCP') return `server { listen 127.0.0.1:${own.port}; ${last} }`
    const socket = `unix:${own.folder}/hop.sock`
    return `server { listen 127.0.0.1:${own.port}; proxy_pass ${socket}; } server { listen ${socket}; ${last} }`
  })

const FRONTS: readonly (readonly [name: string, Version, StartFront, skip: string | false])[] = [
  ['HAProxy with v1', 'v1', haproxy('v1'), NO_HAPROXY],
  ['HAProxy with v2', 'v2', haproxy('v2'), NO_HAPROXY],
  ['nginx stream', 'v1', nginx, NO_NGINX_STREAM],
]

/** The proxy trusts only the address that the front server connects from; visitors have another loopback address. */
const FRONT_ADDRESS = '127.0.0.1/32'
const VISITOR_ADDRESS = '127.0.0.7'

async function behindFront(t: Test, version: Version, startFront: StartFront, hops: Hops, options: ProxyOptions = {}) {
  const sallyport = fakeSallyport({ trust: [FRONT_ADDRESS] })
  const refused: string[] = []
  const onRefused = (cause: string): void => void refused.push(cause)
  const before = await proxyBefore(t, OK, { sallyport, proxyProtocol: version, onRefused, ...options })
  const front = await startFront(t, new URL(before.url).port, hops)
  // Whether the front listens was asked by connecting, which comes here too.
  refused.length = 0
  return { ...before, sallyport, refused, front }
}

for (const [name, version, startFront, skip] of FRONTS) {
  t.test(`${name} before TLS`, { skip: skip || NO_OPENSSL }, async (t) => {
    const tls = { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
    const { front, sallyport, refused } = await behindFront(t, version, startFront, 'TCP', { tls })
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const client = await securedOver(await dial(front, VISITOR_ADDRESS), { maxVersion })
      client.write(get('/', `X-Forwarded-For: ${VISITOR.blocked}`))
      t.equal(readStatus(await readUntil(client)), 200)
    }
    const client = await securedOver(await dial(front, VISITOR_ADDRESS), { ALPNProtocols: ['h2'] })
    t.equal(await askedHttp2(client), 200)
    t.same(
      sallyport.asked.map(({ peer, ja4 }) => `${peer} ${ja4?.slice(0, 3)}`),
      [`${VISITOR_ADDRESS} t12`, `${VISITOR_ADDRESS} t13`, `${VISITOR_ADDRESS} t13`],
    )
    t.same(refused, [])
  })

  t.test(`${name} before plain HTTP`, { skip }, async (t) => {
    const { front, sallyport, origin } = await behindFront(t, version, startFront, 'TCP')
    const client = await dial(front, VISITOR_ADDRESS)
    client.write(get('/', `X-Forwarded-For: ${VISITOR.blocked}`))
    t.equal(readStatus(await readUntil(client)), 200)
    t.equal(sallyport.asked[0]?.peer, VISITOR_ADDRESS)
    t.match(origin.heads[0], new RegExp(`^X-Forwarded-For: ${VISITOR_ADDRESS}\r$`, 'm'))
  })

  t.test(`${name} behind a hop over a Unix socket names nobody`, { skip }, async (t) => {
    const { front, sallyport, origin } = await behindFront(t, version, startFront, 'Unix')
    const forged = [`X-Forwarded-For: ${VISITOR.blocked}`, `X-Real-IP: ${VISITOR.blocked}`]
    t.equal(readStatus(await exchange(front, get('/', ...forged))), 200)
    t.match(sallyport.decided[0]?.inspection, {
      client: { address: '', via: 'none' },
      network: { verdict: { classification: 'unknown', confidence: 0 } },
    })
    t.notMatch(origin.heads[0], VISITOR.blocked)
  })
}

t.test('HAProxy names the visitor behind a hop over a Unix socket', { skip: NO_HAPROXY }, async (t) => {
  const start: StartFront = (t, port) =>
    startHaproxy(t, ({ port: own, folder }) => {
      const socket = `unix@${folder}/hop.sock`
      const first = `listen front\n bind 127.0.0.1:${own}\n server hop ${socket} send-proxy-v2`
      return `${first}\nlisten hop\n bind ${socket} accept-proxy\n server gate 127.0.0.1:${port} send-proxy-v2`
    })
  const { front, sallyport } = await behindFront(t, 'v2', start, 'Unix')
  const client = await dial(front, VISITOR_ADDRESS)
  client.write(get('/'))
  t.equal(readStatus(await readUntil(client)), 200)
  t.equal(sallyport.asked[0]?.peer, VISITOR_ADDRESS)
})

t.test('health checks of HAProxy are answered', { skip: NO_HAPROXY || NO_OPENSSL }, async (t) => {
  const tls = { certificates: [makeCertificate(certificateFolder(t), ['site.example'])] }
  const http =
    'option httpchk\n http-check send meth GET uri /alive ver HTTP/1.1 hdr Host site.example\n http-check expect status 200'
  for (const [version, send, asChecked] of [
    ['v1', 'send-proxy', '127.0.0.1'],
    ['v2', 'send-proxy-v2', ''],
  ] as const) {
    for (const over of [{ tls }, {}]) {
      const ssl = 'tls' in over ? 'check-ssl verify none' : ''
      const start: StartFront = (t, port) =>
        startHaproxy(t, (own) => {
          const server = `server gate 127.0.0.1:${port} ${send} check inter 100 fall 1 rise 2 ${ssl}`
          return `listen front\n bind 127.0.0.1:${own.port}\n ${http}\n ${server}`
        })
      const { origin, sallyport, front, refused } = await behindFront(t, version, start, 'TCP', over)
      await until(() => origin.heads.filter((head) => head.startsWith('GET /alive ')).length >= 4)
      const peers = sallyport.asked.filter(({ target }) => target === '/alive').map(({ peer }) => peer)
      t.same(new Set(peers), new Set([asChecked]), 'with v1 HAProxy names itself')
      const client = await dial(front)
      const visitor = 'tls' in over ? await securedOver(client) : client
      visitor.write(get('/'))
      t.equal(readStatus(await readUntil(visitor)), 200, 'the server is up')
      t.same(refused, [])
    }
  }
})
