import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_HAPROXY, NO_NGINX, startHaproxy, startNginx } from './front-programs.ts'
import { dial, OK, readUntil } from './wire.ts'

/*
 * Requests that are pipelined behind one that asks for h2c are answered, behind servers that keep their connections to the gate
 * and pass the wish on, as the examples for WebSockets have them do.
 */
const BODY = '{"a":"b"}'
const WISH =
  'Host: site.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n'
const ASKED = [
  `GET /one HTTP/1.1\r\n${WISH}\r\n`,
  `POST /two HTTP/1.1\r\n${WISH}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
  `POST /three HTTP/1.1\r\n${WISH}Transfer-Encoding: chunked\r\n\r\n9\r\n${BODY}\r\n0\r\n\r\n`,
  'GET /four HTTP/1.1\r\nHost: site.example\r\n\r\n',
]
const LAST = 'GET /last HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n'
const TURNS = 5

type Start = (t: Test, url: string) => Promise<string>

const FRONTS: readonly (readonly [name: string, skip: string | false, start: Start])[] = [
  [
    'nginx',
    NO_NGINX,
    (t, url) =>
      startNginx(
        t,
        url,
        'proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade, http2-settings";',
      ),
  ],
  [
    'HAProxy',
    NO_HAPROXY,
    (t, url) =>
      startHaproxy(t, ({ port }) =>
        [
          `listen front\n mode http\n bind 127.0.0.1:${port}\n http-reuse always`,
          ` server gate ${new URL(url).host}`,
        ].join('\n'),
      ),
  ],
]

for (const [name, skip, start] of FRONTS) {
  t.test(name, { skip }, async (t) => {
    const { url, origin, errors } = await proxyBefore(t, OK)
    const client = await dial(await start(t, url))
    client.write(ASKED.join('').repeat(TURNS) + LAST)
    const answers = await readUntil(client)
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    t.same(statuses, Array(ASKED.length * TURNS + 1).fill('200'))
    t.same(
      origin.heads.map((head) => head.split(' ', 2)[1]),
      [...Array(TURNS).fill(['/one', '/two', '/three', '/four']).flat(), '/last'],
    )
    t.same(errors, [])
  })
}
