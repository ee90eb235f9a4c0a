import type { RequestListener } from 'node:http'
import type { ConfigInput } from '@sallyport/engine'
import { guard } from '@sallyport/fetch'
import t from 'tap'
import { ADDRESS, BROWSER, earnPass, visit } from './challenge-client.ts'
import { everyGate } from './every-host.ts'
import { SERVERS } from './places.ts'
import { startProxyBefore } from './proxy.ts'
import { exchange, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A cache in front keeps nothing for those who hold no pass of an answer that rests on one. */
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'ask', match: { not: { path: ['/open'] } }, action: 'challenge', challenge: { level: 2 } }],
} satisfies ConfigInput['policy']

everyGate('an answer that rests on a pass is private, and no other', { policy: POLICY }, async (t, at) => {
  const cookie = await earnPass(at)
  for (let call = 0; call < 3; call++) {
    t.match(await visit(at, { cookie }), { status: 200, headers: { 'cache-control': 'private' } })
  }
  const open = await visit(at, { cookie, target: '/open' })
  t.same([open.status, open.headers['cache-control']], [200, undefined])
})

const SHARED = { 'Cache-Control': 'public, max-age=600, s-maxage=900', 'CDN-Cache-Control': 'max-age=900' }

/** The ways in which a handler writes its fields. */
const WRITTEN: Readonly<Record<string, RequestListener>> = {
  'setHeader, then end': (_, res) => {
    for (const [name, value] of Object.entries(SHARED)) res.setHeader(name, value)
    res.setHeader('X-Accel-Expires', '600')
    res.end('ok')
  },
  'writeHead with an object': (_, res) => res.writeHead(200, { ...SHARED, 'Set-Cookie': ['a=1', 'b=2'] }).end('ok'),
  'writeHead with a reason and a list': (_, res) =>
    res.writeHead(200, 'Fine', [...Object.entries(SHARED).flat(), 'Set-Cookie', 'a=1']).end('ok'),
}

for (const [place, start] of Object.entries(SERVERS)) {
  for (const [way, listen] of Object.entries(WRITTEN)) {
    t.test(`${place}: what a handler says to caches by ${way}`, async (t) => {
      const at = await start(t, await openWithoutData(t, { policy: POLICY }), listen)
      const cookie = await earnPass(at)
      const { headers } = await visit(at, { cookie })
      t.equal(headers['cache-control'], 'max-age=600, private')
      t.same([headers['cdn-cache-control'], headers['x-accel-expires']], [undefined, undefined])
      const fields = ['X-Forwarded-For', ADDRESS, 'Connection', 'close', ...BROWSER, 'Cookie', cookie]
      const bytes = await exchange(at.port, requestBytes('GET', '/shop', fields))
      if (way.startsWith('writeHead'))
        t.match(bytes, way.endsWith('object') ? /a=1\r\n.*b=2\r\n/s : /a=1\r\n/, 'and cookies stay')
      const open = await visit(at, { target: '/open' })
      t.match(open.headers, { 'cache-control': SHARED['Cache-Control'], 'cdn-cache-control': 'max-age=900' })
    })
  }
}

t.test('fetch: the response of the application', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const cookie = await earnPass(await startProxyBefore(t, sallyport, (_, res) => res.end()))
  const headers = { 'user-agent': BROWSER[1] as string, accept: 'text/html', cookie }
  const request = new Request('http://site.example/', { headers })
  const { response, end } = await guard(sallyport, request, { address: ADDRESS })
  t.equal(response, undefined)
  const answer = end(new Response('ok', { headers: SHARED }))
  t.same([answer.headers.get('cache-control'), answer.headers.get('cdn-cache-control')], ['max-age=600, private', null])
})
