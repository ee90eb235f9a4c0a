import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_HAPROXY, NO_NGINX, startCaddy, startHaproxy, startNginx } from './front-programs.ts'
import { missing } from './programs.ts'
import { fakeSallyport } from './sallyport.ts'
import { dial, exchange, get, OK, readStatus, until } from './wire.ts'

/* All clients come through one real server, which keeps its connections to the proxy and passes on what a balancer before it says. */
const WEBSOCKETS =
  'set $upgrade ""; if ($http_upgrade) { set $upgrade upgrade; } proxy_set_header Upgrade $http_upgrade;'
const FRONTS: Readonly<
  Record<string, readonly [missing: string | false, start: (t: Test, url: string) => Promise<string>]>
> = {
  nginx: [
    NO_NGINX,
    (t, url) => startNginx(t, url, `${WEBSOCKETS} proxy_set_header Connection $upgrade;`, '$proxy_add_x_forwarded_for'),
  ],
  Caddy: [
    missing('caddy'),
    (t, url) =>
      startCaddy(
        t,
        (port) =>
          `http://:${port} {\n bind 127.0.0.1\n reverse_proxy ${new URL(url).host} {\n trusted_proxies private_ranges\n }\n}`,
      ),
  ],
  HAProxy: [
    NO_HAPROXY,
    (t, url) =>
      startHaproxy(
        t,
        ({ port }) =>
          `frontend f\n mode http\n bind 127.0.0.1:${port}\n default_backend b
backend b\n mode http\n option forwardfor\n server s ${new URL(url).host}`,
      ),
  ],
}

const of = (client: string): string => `X-Forwarded-For: ${client}`
const HANDSHAKE = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

for (const [name, [missing, startFront]] of Object.entries(FRONTS)) {
  t.test(`${name}: the scheme is that of the client`, { skip: missing }, async (t) => {
    for (const [clientHeader, expected, ...fields] of [
      [undefined, 'https', of('21.0.0.9'), 'X-Forwarded-Proto: https'],
      [undefined, 'https', of('21.0.0.9'), 'X-Forwarded-Proto: https,http'],
      [undefined, 'https', of('21.0.0.9'), 'X-Forwarded-Proto: wss', ...HANDSHAKE],
      [undefined, 'http', of('21.0.0.9'), 'X-Forwarded-Proto: http,https'],
      ['forwarded', 'https', 'Forwarded: for=21.0.0.9;proto=https'],
      ['forwarded', 'https', 'Forwarded: for=21.0.0.9;proto=wss', ...HANDSHAKE],
    ] as const) {
      const { url, origin } = await proxyBefore(t, OK, { sallyport: fakeSallyport({ clientHeader }) })
      const closing = fields.length > 3 ? 'Upgrade' : 'close'
      const socket = await dial(await startFront(t, url))
      socket.write(`GET / HTTP/1.1\r\nHost: a\r\n${fields.join('\r\n')}\r\nConnection: ${closing}\r\n\r\n`)
      await until(() => origin.heads.length > 0)
      socket.destroy()
      const said = origin.heads[0]?.match(/^x-forwarded-proto: .*$/gim)
      t.same(
        said?.map((line) => line.toLowerCase()),
        [`x-forwarded-proto: ${expected}`],
        fields.join(' and '),
      )
    }
  })

  t.test(`${name}: each client has a share of its own`, { skip: missing }, async (t) => {
    for (const [trust, expected] of [
      [['loopback'], 200],
      [[], 503],
    ] as const) {
      let held = 0
      let refused = 0
      const { url } = await proxyBefore(
        t,
        (socket, head) => {
          if (head.startsWith('GET /slow')) held += 1
          else socket.write(OK)
        },
        {
          sallyport: fakeSallyport({ trust }),
          limits: { originConnections: 16 },
          timeouts: { queue: 300 },
          onRefused: () => (refused += 1),
        },
      )
      const front = await startFront(t, url)
      const sockets = await Promise.all(Array.from({ length: 32 }, () => dial(front)))
      for (const [at, socket] of sockets.entries()) socket.write(get('/slow', of(`21.0.0.${at % 4}`)))
      await until(() => held + refused === 32)
      t.ok(held >= 8, `${held} held`)
      for (let turn = 0; turn < 3; turn++) {
        t.equal(readStatus(await exchange(front, get('/', of('21.0.1.1')))), expected, 'another client')
      }
      for (const socket of sockets) socket.destroy()
    }
  })
}
