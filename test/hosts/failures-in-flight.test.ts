import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { guard } from '@sallyport/fetch'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { type RunningHost, running } from './host.ts'
import { startProxy } from './proxy.ts'
import { exchange, parseResponse, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A burst of guesses before the first answer, hosts that do not see answers, and clients that leave. */
const MAX = 10
const POLICY = {
  preset: 'observe',
  rules: [
    {
      id: 'logins',
      match: { path: ['/login'], method: ['POST'] },
      limit: { key: 'client', max: MAX, window: '1h', count: 'failure' },
      action: 'throttle',
    },
    {
      id: 'pages',
      match: { path: ['/wiki/**'] },
      limit: { key: 'client', max: MAX, window: '1h', count: 'page' },
      action: 'throttle',
    },
  ],
} satisfies ConfigInput['policy']

/** An application whose answers wait until the test gives them. */
class Application extends EventEmitter {
  readonly held: ServerResponse[] = []
  /** Status of answers that do not wait. */
  atOnce: number | undefined

  readonly listen: RequestListener = (req, res) => {
    req.resume()
    this.held.push(res)
    if (this.atOnce !== undefined) this.answer(this.atOnce)
    this.emit('asked')
  }

  /** Resolves when so many requests wait. */
  async holds(count: number): Promise<void> {
    while (this.held.length < count) await once(this, 'asked')
  }

  answer(status: number): void {
    for (const res of this.held.splice(0)) res.writeHead(status, { 'content-length': 0 }).end()
  }
}

type Start = (t: Test, sallyport: Sallyport, listen: RequestListener) => Promise<RunningHost>

const HOSTS: Readonly<Record<string, Start>> = {
  'node:http': async (_, sallyport, listen) => running(createServer(listener(sallyport, listen))),
  'the proxy': async (t, sallyport, listen) => {
    const origin = await running(createServer(listen))
    t.teardown(() => origin.close())
    return startProxy(t, sallyport, { upstream: `http://127.0.0.1:${origin.port}` })
  },
}

const PLACES: Readonly<Record<string, (t: Test) => Promise<Partial<ConfigInput>>>> = {
  memory: async () => ({ counting: { place: 'memory' } }),
  dataDir: async () => ({ counting: { place: 'dataDir' } }),
  Redis: async (t) => ({ redis: (await startRedis(t)).url, timeouts: { counting: '5s' } }),
}

function read(port: number, address: string, target: string, more: readonly string[] = []): Promise<number> {
  const fields = ['X-Forwarded-For', address, 'Connection', 'close', ...more]
  return exchange(port, requestBytes('GET', target, fields)).then((bytes) => parseResponse(bytes).status)
}

function login(port: number, address: string): Promise<number> {
  const fields = ['X-Forwarded-For', address, 'Connection', 'close', 'Content-Length', '0']
  return exchange(port, requestBytes('POST', '/login', fields)).then((bytes) => parseResponse(bytes).status)
}

for (const [place, config] of Object.entries(PLACES)) {
  t.test(`40 guesses at a time, counted in ${place}`, { skip: place === 'Redis' && NO_REDIS }, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...(await config(t)) })
    for (const [at, [name, start]] of Object.entries(HOSTS).entries()) {
      await t.test(name, async (t) => {
        const application = new Application()
        const host = await start(t, sallyport, application.listen)
        t.teardown(() => host.close())
        for (const status of [303, 401]) {
          const address = `8.1.${at}.${status - 300}`
          const burst = Array.from({ length: 40 }, () => login(host.port, address))
          await application.holds(MAX)
          const late = await Promise.all(Array.from({ length: 5 }, () => login(host.port, address)))
          t.same(late, Array(5).fill(429), 'while they are in flight')
          t.equal(application.held.length, MAX, 'the application sees no more guesses than fit')
          application.answer(status)
          const statuses = await Promise.all(burst)
          t.equal(statuses.filter((got) => got === status).length, MAX)
          t.equal(statuses.filter((got) => got === 429).length, 40 - MAX)
          if (status === 401) {
            t.equal(await login(host.port, address), 429, 'failures stay')
            continue
          }
          // No answer waits until its slot is given back, so a request behind the answers may come too soon.
          application.atOnce = status
          while ((await login(host.port, address)) === 429);
          for (let call = 0; call < MAX; call++) await login(host.port, address)
          application.atOnce = undefined
        }
        t.equal(application.held.length, 0)
        await checkPages(t, start, sallyport, `8.1.${at}`)
      })
    }
  })
}

/** Pages are known by the answer's type, however a handler writes it; files load together, and a page under their name is one. */
async function checkPages(t: Test, start: Start, sallyport: Sallyport, network: string): Promise<void> {
  const types = { page: 'text/html; charset=utf-8', file: 'text/css', api: 'application/json' } as const
  const host = await start(t, sallyport, (req, res) => {
    const type = types[/(page|file|api)/.exec(req.url ?? '')?.[0] as keyof typeof types]
    res.writeHead(200, { 'Content-Type': type, 'Content-Length': 0 }).end()
  })
  t.teardown(() => host.close())
  const statuses = async (times: number, address: string, target: string, more?: readonly string[]) => {
    const got: number[] = []
    for (let call = 0; call < times; call++) got.push(await read(host.port, address, target, more))
    return got.filter((status) => status === 200).length
  }
  t.equal(await statuses(30, `${network}.20`, '/wiki/file.css'), 30)
  t.equal(await statuses(30, `${network}.20`, '/wiki/api'), 30)
  const script = ['Accept', '*/*', 'Sec-Fetch-Dest', 'empty', 'X-Requested-With', 'XMLHttpRequest']
  t.equal(await statuses(30, `${network}.20`, '/wiki/page', script), MAX)
  t.equal(await statuses(30, `${network}.20`, '/wiki/file.css'), 30, 'the last page has its styles')
  t.equal(await statuses(30, `${network}.21`, '/wiki/page/1.css'), MAX)
}

t.test('a client that leaves before the answer has not failed', async (t) => {
  for (const [name, start] of Object.entries(HOSTS)) {
    const sallyport = await openWithoutData(t, { policy: { ...POLICY, failures: [200, 401] } })
    const application = new Application()
    const host = await start(t, sallyport, application.listen)
    t.teardown(() => host.close())
    for (let round = 0; round < 3; round++) {
      const socket = new AbortController()
      const asked = Array.from({ length: MAX }, () =>
        fetch(`http://127.0.0.1:${host.port}/login`, {
          method: 'POST',
          headers: { 'x-forwarded-for': '8.1.0.9' },
          signal: socket.signal,
        }).catch(() => undefined),
      )
      await application.holds(MAX)
      const closed = application.held.splice(0).map((res) => once(res, 'close'))
      socket.abort()
      await Promise.all([...asked, ...closed])
      t.pass(`${name}: ${MAX} left, and as many fit again`)
    }
  }
})

t.test('where a server in front answers, or nobody says how it ended, each request counts', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const { port } = await startProxy(t, sallyport, { forwardAuth: 'caddy' })
  const fields = ['X-Forwarded-Uri', '/login', 'X-Forwarded-Method', 'POST', 'X-Forwarded-Host', 'shop.example']
  const about = [...fields, 'X-Forwarded-Proto', 'https', 'X-Forwarded-For', '8.2.0.1', 'Connection', 'close']
  const statuses: number[] = []
  for (let call = 0; call < MAX + 2; call++) {
    const bytes = await exchange(port, requestBytes('GET', '/.sallyport/check', about))
    statuses.push(parseResponse(bytes).status)
  }
  t.same(statuses, [...Array(MAX).fill(200), 429, 429], 'forward auth')
  const pages: number[] = []
  for (const uri of ['/wiki/1.css', '/wiki/1']) {
    const original = ['X-Forwarded-Uri', uri, 'X-Forwarded-Method', 'GET', ...about.slice(4)]
    for (let call = 0; call < MAX + 2; call++) {
      const bytes = await exchange(port, requestBytes('GET', '/.sallyport/check', original))
      pages.push(parseResponse(bytes).status)
    }
  }
  t.same(pages, [...Array(MAX + 2 + MAX).fill(200), 429, 429], 'and what is no file is a page')

  for (const ends of [false, true]) {
    const actions: unknown[] = []
    for (let call = 0; call < MAX + 2; call++) {
      const request = new Request('https://shop.example/login', { method: 'POST' })
      const { response, end } = await guard(sallyport, request, { address: ends ? '8.2.0.3' : '8.2.0.2' })
      if (ends && response === undefined) end(new Response(null, { status: 204 }))
      actions.push(response?.status)
    }
    t.same(actions.slice(MAX), ends ? [undefined, undefined] : [429, 429], ends ? 'ended' : 'never ended')
  }
})
