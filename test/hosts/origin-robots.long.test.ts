import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import type { ProxyOptions } from '@sallyport/proxy'
import t, { type Test } from 'tap'
import { startOrigin, startProxy } from './proxy.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Rules by the robots.txt of an origin, which the proxy asks for. */
const RUDE: ConfigInput = {
  policy: { preset: 'observe', rules: [{ id: 'rude', match: { robots: ['disallowed'] }, action: 'block' }] },
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** An origin that has a robots.txt, and keeps how it was asked for that. */
async function originWith(t: Test, answer: Answer | string) {
  const asked: IncomingMessage[] = []
  const url = await startOrigin(t, (request, response) => {
    if (!/robots/.test(request.url ?? '')) return void response.end('page')
    asked.push(request)
    if (typeof answer === 'string') response.end(answer)
    else answer(request, response)
  })
  return { url, asked }
}

async function startRobotsProxy(t: Test, sallyport: Sallyport, options: ProxyOptions) {
  const notices: string[] = []
  const proxy = await startProxy(t, sallyport, { onNotice: (message) => notices.push(message), ...options })
  return { proxy, notices, port: proxy.port }
}

async function status(port: number, target: string, host = 'a.example', agent = 'Bot/1'): Promise<number> {
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, `User-Agent: ${agent}`, 'Connection: close', '', '']
  return parseResponse(await exchange(port, lines.join('\r\n'))).status
}

/** Rows of robots.txt that were asked for, once all are known to be there or not. */
async function rows(sallyport: Pick<Sallyport, 'sources'>, count = 1) {
  for (;;) {
    const found = sallyport.sources().filter(({ id }) => id.startsWith('robots:'))
    if (found.length >= count && found.every(({ state, reason }) => state === 'loaded' || reason !== undefined))
      return found
    await delay(5)
  }
}

t.test('what the robots.txt of the origin disallows is refused, once it was read', async (t) => {
  const { url, asked } = await originWith(t, 'User-agent: bot\nDisallow: /private\n')
  const sallyport = await openWithoutData(t, RUDE)
  const { port, proxy } = await startRobotsProxy(t, sallyport, { upstream: url })
  t.equal(asked.length, 0, 'it is not asked for before a rule asks')
  t.equal(await status(port, '/private/x'), 200, 'nobody waits for it')
  t.match(await rows(sallyport), [{ state: 'loaded', entries: 1, checked: /^20/ }])
  t.same([await status(port, '/private/x'), await status(port, '/public')], [403, 200])
  t.equal(await status(port, '/private/x', 'a.example', 'Other/1'), 200)
  t.equal(asked.length, 1)
  t.match(asked[0]?.headers, { 'user-agent': 'sallyport', 'accept-encoding': 'identity' })
  const admin = (await (await fetch(`${proxy.adminUrl}/sources`)).json()) as readonly { readonly id: string }[]
  t.match(JSON.stringify(admin), `robots:${url}`)

  const other = await originWith(t, 'User-agent: *\nDisallow: /public\n')
  await proxy.reload({ upstream: other.url })
  await status(port, '/public')
  t.match(await rows(sallyport), [{ id: `robots:${other.url}` }])
  t.same([await status(port, '/private/x'), await status(port, '/public')], [200, 403])
})

t.test('each host of the routes has its own, which its origin is asked for by that name', async (t) => {
  const shared = await originWith(t, ({ headers }, response) => {
    response.end(`User-agent: *\nDisallow: /${headers.host?.startsWith('a.') ? 'a' : 'b'}\n`)
  })
  const third = await originWith(t, 'User-agent: *\nDisallow: /c\n')
  const upstreams = [shared.url]
  const sallyport = await openWithoutData(t, RUDE)
  const routes = [
    { host: 'a.example', upstreams },
    { host: 'B.example', upstreams },
    { host: '*.c.example', upstreams: [third.url] },
    { host: 'none.example' },
  ]
  const { port } = await startRobotsProxy(t, sallyport, { routes })
  const hosts = ['a.example', 'b.example:8080', 'x.c.example', 'y.c.example']
  for (const host of hosts) await status(port, '/', host)
  t.same(
    (await rows(sallyport, 3)).map(({ id }) => id).sort(),
    ['robots:a.example', 'robots:b.example', `robots:${third.url}`].sort(),
  )
  for (const host of hosts) {
    const found = await Promise.all(['/a', '/b', '/c'].map((target) => status(port, target, host)))
    const own = hosts.slice(0, 2).indexOf(host)
    t.same(
      found,
      [0, 1, 2].map((at) => (at === (own === -1 ? 2 : own) ? 403 : 200)),
      host,
    )
  }
  t.equal(await status(port, '/a', 'none.example'), 404)
  t.same(shared.asked.map(({ headers }) => headers.host).sort(), ['a.example', 'b.example'])
  t.same(
    third.asked.map(({ headers }) => headers.host),
    [new URL(third.url).host],
  )
})

t.test('a site without one refuses nothing; one that cannot be read decides nothing, and says so', async (t) => {
  const text = 'User-agent: *\nDisallow: /x\n'
  const loaded = (entries: number) => ({ state: 'loaded', entries })
  const absent = (reason: string) => ({ state: 'absent', reason })
  const head = (status: number, headers: OutgoingHttpHeaders, body: string | Buffer = ''): Answer => {
    return (_, response) => response.writeHead(status, headers).end(body)
  }
  const elsewhere = 'https://other.example/robots.txt'
  const cases: readonly (readonly [name: string, answer: Answer, expected: object, status: number])[] = [
    ['404', head(404, {}, text), loaded(0), 200],
    ['503', head(503, {}, text), absent('has the status 503'), 200],
    ['cut', (_, response) => response.destroy(), absent('could not be fetched: UND_ERR_SOCKET'), 200],
    [
      'compressed',
      head(200, { 'content-encoding': 'gzip' }, gzipSync(text)),
      absent('is compressed, which the proxy did not request'),
      200,
    ],
    [
      'moved on the site',
      ({ url }, response) =>
        url === '/robots.txt' ? response.writeHead(301, { location: '/static/robots.txt' }).end() : response.end(text),
      loaded(1),
      403,
    ],
    [
      'moved to another one',
      head(302, { location: elsewhere }),
      absent(`redirects to "${elsewhere}", which the proxy does not follow`),
      200,
    ],
    [
      'moved round and round',
      ({ url }, response) => response.writeHead(302, { location: `${url}x` }).end(),
      absent('is redirected more than 5 times'),
      200,
    ],
    [
      'without an end',
      (_, response) => {
        response.write(text)
        const more = (): boolean => response.write(`${'#'.repeat(65_535)}\n`)
        response.on('drain', () => {
          while (more());
        })
        while (more());
      },
      loaded(1),
      403,
    ],
  ]
  for (const [name, answer, expected, then] of cases) {
    const { url } = await originWith(t, answer)
    const sallyport = await openWithoutData(t, RUDE)
    const { port, notices } = await startRobotsProxy(t, sallyport, { upstream: url })
    await status(port, '/x')
    const [row] = await rows(sallyport)
    t.match(row, expected, name)
    t.equal(await status(port, '/x'), then, name)
    const said = row?.reason && `robots.txt of ${url} ${row.reason}: rules with match.robots ignore it.`
    t.same(notices, said === undefined ? [] : [said], name)
  }
})

t.test('it is not asked for where the policy answers in its place, or the site has a file here', async (t) => {
  const { url, asked } = await originWith(t, 'User-agent: *\nDisallow: /x\n')
  const sallyport = await openWithoutData(t, { ...RUDE, robots: { serve: true } })
  const { port } = await startRobotsProxy(t, sallyport, { upstream: url, robots: { serve: true } })
  t.equal(await status(port, '/x'), 200)
  t.equal(asked.length, 0)
  t.same(
    sallyport.sources().filter(({ id }) => id.startsWith('robots:')),
    [],
  )
  const file = join(t.testdir({ 'robots.txt': 'User-agent: *\nDisallow: /y\n' }), 'robots.txt')
  const own = await openWithoutData(t, { ...RUDE, robots: { file } })
  const { port: at } = await startRobotsProxy(t, own, { upstream: url })
  t.same([await status(at, '/x'), await status(at, '/y')], [200, 403])
  t.equal(asked.length, 0)
})
