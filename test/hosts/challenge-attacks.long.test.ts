import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { ADDRESS, BROWSER, cookieOf, passOf, redeem, solutionOf, visit } from './challenge-client.ts'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { CLEAR_HTTP2, NO_OPENSSL, type Protocol, protocolsOverTls } from './protocols.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Attacks on a rule that asks everybody, over real sockets, in every host. */
const ASK_ALL = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } as const
const POLICY = { preset: 'observe', rules: [ASK_ALL] } satisfies ConfigInput['policy']

function everyHost(
  name: string,
  check: (t: Test, at: RunningHost, host: Host, sallyport: Sallyport) => Promise<void>,
  config: Partial<ConfigInput> = {},
): void {
  void t.test(name, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, ...config })
    for (const host of HOSTS) {
      const at = await host.start(sallyport, '')
      await t.test(host.name, (t) => check(t, at, host, sallyport))
      await at.close()
    }
  })
}

/** Sends the lines of a request as they are. */
async function raw({ port }: RunningHost, ...lines: readonly string[]) {
  const sent = [...lines, `X-Forwarded-For: ${ADDRESS}`, 'Connection: close', '', '']
  return parseResponse(await exchange(port, sent.join('\r\n')).catch(() => ''))
}

const NAVIGATES = [
  `User-Agent: ${BROWSER[1]}`,
  'Accept: text/html',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Dest: document',
]
const reasonOf = ({ body }: { readonly body: string }): unknown => JSON.parse(body).details?.reason

everyHost(
  'a pass of another host, browser or network is none, nor one that was cut, doubled or changed',
  async (t, at) => {
    const cookie = await passOf(at)
    const value = cookie.slice('sallyport='.length)
    const statusOf = async (brought: string, more: Parameters<typeof visit>[1] = {}): Promise<number> =>
      (await visit(at, { cookie: brought, ...more })).status
    t.equal(await statusOf(cookie), 200)
    t.equal(await statusOf(`sallyport=x; ${cookie}`), 200, 'the best of several')
    t.equal(await statusOf(cookie, { fields: [...BROWSER.slice(2), 'User-Agent', 'curl/8.9'] }), 403)
    const changed = `${value.slice(0, 20)}${value[20] === 'A' ? 'B' : 'A'}${value.slice(21)}`
    for (const none of [
      value.slice(0, -1),
      value.slice(1),
      value + value,
      changed,
      value.toUpperCase(),
      `"${value}"`,
    ]) {
      t.equal(await statusOf(`sallyport=${none}`), 403, none)
    }
    t.equal(await statusOf(`sallyport=%22; SALLYPORT=${value}; xsallyport=${value}; sallyport =${value.slice(2)}`), 403)
    const other = await raw(at, 'GET /shop HTTP/1.1', 'Host: other.example', `Cookie: ${cookie}`, ...NAVIGATES)
    t.equal(other.status, 403, 'another host')
  },
)

everyHost('floods of cookies and huge fields are one quick refusal, and the next visitor is served', async (t, at) => {
  const cookie = await passOf(at)
  const many = Array.from({ length: 200 }, (_, number) => `sallyport=${number}${'x'.repeat(51)}`.slice(0, 62)).join(
    '; ',
  )
  t.not((await visit(at, { cookie: many.slice(0, 12_000) })).status, 200)
  t.not((await visit(at, { cookie: `${many.slice(0, 9_000)}; ${cookie}` })).status, 200, 'four are looked at')
  t.not((await visit(at, { cookie: `a=${'b'.repeat(16_000)}` })).status, 200)
  for (const solution of [
    'x'.repeat(8_000),
    `${'A'.repeat(91)}.${'1,'.repeat(2_000)}1`,
    `${'A'.repeat(91)}.${'9'.repeat(900)}`,
  ]) {
    const { status } = await redeem(at, solution)
    t.ok(status === 403 || status === 431, `${status}`)
  }
  t.equal((await visit(at, { cookie })).status, 200)
})

everyHost('a solution counts in its field alone, once, and not from another site', async (t, at) => {
  const solution = solutionOf(await visit(at))
  t.equal((await visit(at, { target: `/.sallyport/pass?sallyport-solution=${solution}` })).status, 403, 'in a query')
  t.equal((await visit(at, { cookie: `sallyport-solution=${solution}` })).status, 403, 'in a cookie')
  for (const site of ['cross-site', 'same-site', 'none']) {
    const refused = await redeem(at, solution, { fields: [...BROWSER.slice(0, 2), 'Sec-Fetch-Site', site] })
    t.match([refused.status, reasonOf(refused), refused.headers['set-cookie']], [403, 'failed', undefined], site)
  }
  const lies = ['Sec-Fetch-Site', 'same-origin', 'Sec-Fetch-Site', 'cross-site']
  t.not((await redeem(at, solution, { fields: [...BROWSER.slice(0, 2), ...lies] })).status, 204, 'both of them')
  const curl = await redeem(at, solution, { fields: ['User-Agent', 'curl/8.9'] })
  t.equal(reasonOf(curl), 'other_browser')
  const host = await raw(
    at,
    'POST /.sallyport/pass HTTP/1.1',
    'Host: other.example',
    `sallyport-solution: ${solution}`,
    NAVIGATES[0] as string,
  )
  t.not(host.status, 204, 'another host')
  const given = await redeem(at, solution, { more: ['sallyport-solution', solution] })
  const next = await redeem(at, solution)
  t.same([given.status, next.status].toSorted(), [204, 403], 'two fields are one solution, or none')
})

everyHost('no target or host writes into Location, Set-Cookie or the page', async (t, at) => {
  const evil = [
    '//evil.example/',
    '/\\evil.example/',
    '/.//evil.example',
    '/%0d%0aSet-Cookie:a=b',
    '/?a=</script><script>alert(1)</script>',
    `/?a="><meta http-equiv=refresh content=0>`,
    "/?a='onerror=1",
    'http://evil.example//other.example/',
    'http://evil.example',
    'https:/\\evil.example',
    'http://[x/',
    'http://a:99999999/x',
    '*',
    'javascript:alert(1)',
  ]
  for (const target of evil) {
    for (const method of ['GET', 'OPTIONS', 'POST']) {
      const { status, headers, body } = await raw(
        at,
        `${method} ${target} HTTP/1.1`,
        'Host: shop.example',
        ...NAVIGATES,
      )
      const what = `${method} ${target}: ${status}`
      // Servers answer for themselves: its own options, and what it cannot read.
      if (status === 200) t.match([method, target], ['OPTIONS', '*'], what)
      else t.ok([204, 400, 403, 404, 421, Number.NaN].includes(status), what)
      t.notMatch(body, /<script>alert|content=0|'onerror/, what)
      t.notMatch(body, /(?:url=|href=")(?:\/\/|\/\\|https?:|javascript)/i, what)
      t.notMatch(headers['set-cookie'] ?? '', /a=b/, what)
      t.notMatch(headers['location'] ?? '', /^(?:\/\/|\/\\|http)/, what)
    }
  }
  for (const name of ['shop"><script>', 'shop.example"', "a'b", 'a b', 'x,y', 'a/../b', '[::1', 'é']) {
    const { status, body } = await raw(at, 'GET /x HTTP/1.1', `Host: ${name}`, ...NAVIGATES)
    t.not(status, 200, name)
    t.notMatch(body, name)
  }
})

t.test('who waited is sent on to a path of this host, however the target was written', async (t) => {
  const plain = { ...ASK_ALL, challenge: { level: 1 } } as const
  for (const host of HOSTS) {
    // A gate of its own: of one client thirty answers a minute are looked at.
    await t.test(host.name, async (t) => {
      const sallyport = await openWithoutData(t, { policy: { preset: 'observe', rules: [plain] } })
      const at = await host.start(sallyport, '')
      t.teardown(() => at.close())
      const ask = (target: string, cookie: string) =>
        raw(at, `GET ${target} HTTP/1.1`, 'Host: site.example', ...NAVIGATES, `Cookie: ${cookie}`)
      const targets = [
        '//evil.example/x',
        '/\\evil.example',
        'http://site.example//evil.example/',
        '/a?b=//evil.example',
      ]
      const cookies = await Promise.all(targets.map(async () => cookieOf(await visit(at))))
      await new Promise((resolve) => setTimeout(resolve, 1_050))
      for (const [place, target] of targets.entries()) {
        const { status, headers } = await ask(target, cookies[place] as string)
        t.ok(status === 303 || status === 400, `${target}: ${status}`)
        if (status === 303)
          t.match(new URL(headers['location'] ?? '', 'http://site.example/').host, /^site\.example$/, target)
      }
    })
  }
})

everyHost('HTTP/1.0, CONNECT and a range get nothing more', async (t, at) => {
  const old = await raw(at, 'GET /x HTTP/1.0', 'Host: site.example', ...NAVIGATES)
  t.match([old.status, old.body], [403, /data-challenge/])
  t.not((await raw(at, 'CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example:443')).status, 200)
  t.equal((await visit(at, { more: ['Range', 'bytes=0-10'] })).status, 403)
  t.equal((await visit(at, { more: ['If-None-Match', '*'] })).status, 403)
})

t.test('over TLS and HTTP/2 the pass is of the host alone', { skip: NO_OPENSSL }, async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const protocols: readonly Protocol[] = [...protocolsOverTls(t), CLEAR_HTTP2]
  for (const host of HOSTS) {
    for (const over of protocols) {
      const speech = over.http2 ? (over.certificate ? 'h2' : 'h2c') : 'tls'
      if (!host.speaks.includes(speech)) continue
      const at = await host.start(sallyport, '', {}, over)
      const cookie = await passOf(at, {}, over)
      t.match(cookie, over.certificate ? /^__Host-sallyport=/ : /^sallyport=/, `${host.name}, ${over.name}`)
      t.equal((await visit(at, { cookie }, over)).status, 200, `${host.name}, ${over.name}`)
      const head = await visit(at, { method: 'HEAD' }, over)
      t.match([head.status, head.body], [403, ''])
      await at.close()
    }
  }
})

t.test(
  'a claimed crawler gets a few requests while DNS is asked, and is challenged when it never answers',
  async (t) => {
    const silent = createSocket('udp4')
    silent.bind(0, '127.0.0.1')
    await once(silent, 'listening')
    t.teardown(() => silent.close())
    const servers = [`127.0.0.1:${(silent.address() as AddressInfo).port}`]
    const sallyport = await openWithoutData(t, { policy: POLICY, dns: { servers, timeoutMs: 2_000 } })
    const [host] = HOSTS as readonly [Host]
    const at = await host.start(sallyport, '')
    t.teardown(() => at.close())
    const crawler = ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)']
    const statuses: number[] = []
    for (let tried = 0; statuses.at(-1) !== 403 && tried < 200; tried++) {
      statuses.push((await visit(at, { fields: crawler })).status)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    t.equal(statuses[0], 200, 'DNS is asked')
    t.ok(statuses.filter((status) => status === 200).length <= 5, `${statuses}`)
    t.equal(statuses.at(-1), 403)
  },
)

t.test('a farm that hands one pass to many networks loses it', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const cookie = await passOf(at)
    const networks = Array.from({ length: 40 }, (_, number) => `8.8.${number + 1}.1`)
    const statuses: number[] = []
    for (const address of networks) statuses.push((await visit(at, { cookie, address })).status)
    const passed = statuses.filter((status) => status === 200).length
    t.ok(passed >= 3 && passed <= 8, `${host.name}: ${passed} of ${networks.length}`)
    t.equal((await visit(at, { cookie })).status, 403, 'and at home')
    await at.close()
  }
})
