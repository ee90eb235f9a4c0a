import { EventEmitter, once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import type { ConfigInput } from '@sallyport/engine'
import { guard } from '@sallyport/fetch'
import t from 'tap'
import { COUNTS, SERVERS } from './places.ts'
import { startProxy } from './proxy.ts'
import { readStatus } from './wire.ts'
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

const login = (at: { readonly port: number }, address: string): Promise<number> =>
  readStatus(at, address, '/login', [], { method: 'POST', body: '' })

for (const { place, skip, config } of COUNTS) {
  t.test(`40 guesses at a time, counted in ${place}`, { skip }, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...(await config(t)) })
    for (const [at, [name, start]] of Object.entries(SERVERS).entries()) {
      await t.test(name, async (t) => {
        const application = new Application()
        const host = await start(t, sallyport, application.listen)
        for (const status of [303, 401]) {
          const address = `8.1.${at}.${status - 300}`
          const burst = Array.from({ length: 40 }, () => login(host, address))
          await application.holds(MAX)
          const late = await Promise.all(Array.from({ length: 5 }, () => login(host, address)))
          t.same(late, Array(5).fill(429), 'while they are in flight')
          t.equal(application.held.length, MAX, 'the application sees no more guesses than fit')
          application.answer(status)
          const statuses = await Promise.all(burst)
          t.equal(statuses.filter((got) => got === status).length, MAX)
          t.equal(statuses.filter((got) => got === 429).length, 40 - MAX)
          if (status === 401) {
            t.equal(await login(host, address), 429, 'failures stay')
            continue
          }
          // No answer waits until its slot is given back, so a request behind the answers may come too soon.
          application.atOnce = status
          while ((await login(host, address)) === 429);
          for (let call = 0; call < MAX; call++) await login(host, address)
          application.atOnce = undefined
        }
        t.equal(application.held.length, 0)
      })
    }
  })
}

t.test('a client that leaves before the answer has not failed', async (t) => {
  for (const [name, start] of Object.entries(SERVERS)) {
    const sallyport = await openWithoutData(t, { policy: { ...POLICY, failures: [200, 401] } })
    const application = new Application()
    const host = await start(t, sallyport, application.listen)
    for (let round = 0; round < 3; round++) {
      const socket = new AbortController()
      const headers = { 'x-forwarded-for': '8.1.0.9' }
      const sent = { method: 'POST', headers, signal: socket.signal }
      const asked = Array.from({ length: MAX }, () =>
        fetch(`http://127.0.0.1:${host.port}/login`, sent).catch(() => undefined),
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
  const gate = await startProxy(t, sallyport, { forwardAuth: 'caddy' })
  const check = async (times: number, uri: string, method = 'GET') => {
    const fields = ['X-Forwarded-Uri', uri, 'X-Forwarded-Method', method, 'X-Forwarded-Host', 'shop.example']
    const statuses: number[] = []
    for (let call = 0; call < times; call++) {
      statuses.push(await readStatus(gate, '8.2.0.1', '/.sallyport/check', [...fields, 'X-Forwarded-Proto', 'https']))
    }
    return statuses
  }
  const counted = [...Array(MAX).fill(200), 429, 429]
  t.same(await check(MAX + 2, '/login', 'POST'), counted, 'forward auth')
  t.same(await check(MAX + 2, '/wiki/1.css'), Array(MAX + 2).fill(200))
  t.same(await check(MAX + 2, '/wiki/1'), counted, 'and what is no file is a page')

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
