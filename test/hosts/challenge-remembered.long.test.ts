import type { ConfigInput, Sallyport } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { BROWSER, passOf, visit } from './challenge-client.ts'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { exchange } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A visitor whose decision is remembered for its pass: all that ends a pass ends that too. */
const ASK = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } as const
const POLICY = { preset: 'observe', rules: [ASK] } satisfies ConfigInput['policy']

interface Remembered {
  readonly at: RunningHost
  readonly sallyport: Sallyport
  readonly cookie: string
  readonly address: string
}

/** In every host, a visitor that came with its pass until nothing is judged again. */
function everyHost(
  name: string,
  check: (t: Test, visitor: Remembered) => Promise<void>,
  config: Partial<ConfigInput> = {},
): void {
  void t.test(name, async (t) => {
    for (const host of HOSTS) await t.test(host.name, (t) => remembered(t, host))
  })

  async function remembered(t: Test, host: Host): Promise<void> {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...config })
    const at = await host.start(sallyport, '')
    t.teardown(() => at.close())
    const address = '93.184.216.40'
    const cookie = await passOf(at, { address })
    for (let seen = 0; seen < 4; seen++) t.equal((await visit(at, { cookie, address })).status, 200)
    await check(t, { at, sallyport, cookie, address })
  }
}

everyHost('none, a changed, another browser’s and another host’s', async (t, { at, cookie, address }) => {
  const statusOf = async (more: Parameters<typeof visit>[1] = {}): Promise<number> =>
    (await visit(at, { address, cookie, ...more })).status
  t.equal(await statusOf({ cookie: undefined }), 403)
  t.equal(await statusOf({ cookie: `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}` }), 403)
  t.equal(await statusOf({ cookie: cookie.slice(0, -1) }), 403)
  t.equal(await statusOf({ cookie: `x${cookie}` }), 403)
  t.equal(await statusOf({ fields: [...BROWSER.slice(2), 'User-Agent', 'curl/8.9'] }), 403)
  t.equal(await statusOf({ target: '/other', method: 'HEAD' }), 200)
  t.equal(await statusOf(), 200, 'and its own is as good as before')
})

everyHost('a pass that is lost by its networks', async (t, { at, cookie, address }) => {
  for (let network = 1; network <= 12; network++) await visit(at, { cookie, address: `8.8.${network}.1` })
  t.equal((await visit(at, { cookie, address })).status, 403)
})

everyHost(
  'a ban',
  async (t, { at, cookie, address }) => {
    t.equal((await visit(at, { cookie, address, target: '/trap' })).status, 403)
    t.equal((await visit(at, { cookie, address, target: '/trap' })).status, 403)
    let status = 200
    for (let tried = 0; status === 200 && tried < 50; tried++) status = (await visit(at, { cookie, address })).status
    t.equal(status, 403)
  },
  {
    policy: {
      preset: 'observe',
      rules: [{ id: 'trap', match: { path: ['/trap'] }, action: 'block' }, ASK],
      strikes: { key: 'client', count: 2, window: '1m', on: ['blocked'], for: '1h' },
    },
  },
)

everyHost(
  'the budget of a pass',
  async (t, { at, cookie, address }) => {
    const statuses: number[] = []
    for (let asked = 0; asked < 4; asked++) statuses.push((await visit(at, { cookie, address })).status)
    t.same(statuses, [200, 200, 403, 403])
  },
  {
    policy: {
      preset: 'observe',
      rules: [
        ASK,
        {
          id: 'budget',
          match: {},
          action: 'challenge',
          challenge: { level: 2 },
          limit: { key: 'pass', max: 6, window: '1h' },
        },
      ],
    },
  },
)

everyHost('a request inside the body of an answer is no request', async (t, { at, cookie }) => {
  const inner = `GET /shop HTTP/1.1\r\nHost: site.example\r\nCookie: ${cookie}\r\n\r\n`
  const head = ['POST /.sallyport/pass HTTP/1.1', 'Host: site.example', 'sallyport-solution: x.1', 'Connection: close']
  const lengths = [
    [`Content-Length: ${inner.length}`],
    ['Transfer-Encoding: chunked'],
    [`Content-Length: ${inner.length}`, 'Transfer-Encoding: chunked'],
    ['Content-Length: 0', `Content-Length: ${inner.length}`],
    [`Content-Length: +${inner.length}`],
    ['Transfer-Encoding: identity, chunked', 'Content-Type: text/plain'],
  ]
  for (const fields of lengths) {
    const body = fields[0]?.includes('chunked') ? `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n` : inner
    const answered = await exchange(at.port, `${[...head, ...fields].join('\r\n')}\r\n\r\n${body}`).catch(() => '')
    t.notMatch(answered, / 200 OK/, fields.join())
    t.ok((answered.match(/^HTTP\/1\.1 /gm) ?? []).length <= 1, `${fields.join()}: ${answered.slice(0, 300)}`)
  }
})
