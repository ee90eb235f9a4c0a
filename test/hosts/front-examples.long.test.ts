import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { ObservedRequest } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { ADDRESS, BROWSER, SECRET, visit } from './challenge-client.ts'
import { type Front, noFront, startFront } from './fronts.ts'
import { running } from './hosts.ts'
import { createNewMcp } from './mcp-servers.ts'
import { startProxy } from './proxy.ts'
import { agree } from './site.ts'
import { requestBytes, upgrade, WEBSOCKET, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Each example of a server in front, as its users run it: what every visitor must get there, whatever the server. */

const HOURLY = { key: 'client', window: '1h' } as const
const calls = (name: string) => ({ path: ['/mcp'], mcp: { name: [name] } })
const POLICY = {
  preset: 'observe',
  rules: [
    { id: 'programs', match: { path: ['/measured/**'], ja4: ['program'] }, action: 'block' },
    { id: 'no-delete', match: calls('delete'), action: 'block' },
    { id: 'few', match: calls('count'), action: 'throttle', limit: { key: 'tool', max: 1, window: '1h' } },
    { id: 'ask', match: calls('ask'), action: 'challenge' },
    { id: 'price', match: calls('buy'), action: 'offer', offer: { price: 'USD 0.01' } },
    { id: 'law', match: { path: ['/by-law/**'] }, action: 'block', status: 451 },
    { id: 'closed', match: { path: ['/closed/**'] }, action: 'block' },
    { id: 'budget', match: { path: ['/budget'] }, action: 'throttle', limit: { ...HOURLY, max: 2 } },
    { id: 'visits', match: { path: ['/asked/**'] }, action: 'throttle', limit: { ...HOURLY, max: 4 } },
    { id: 'asked', match: { path: ['/asked/**'] }, action: 'challenge', challenge: { level: 2 } },
    { id: 'harder', match: { path: ['/harder/**'] }, action: 'challenge', challenge: { level: 3 } },
  ],
} satisfies ConfigInput['policy']
const CONTACT = 'help@site.example'
const GERMAN = [...BROWSER, 'Accept-Language', 'de']

/** Holds a front server before the site and the gate. */
interface Behind {
  readonly port: number
  /** Fields of the last request as the site received them. */
  readonly arrived: () => readonly string[]
  readonly seen: readonly ObservedRequest[]
  readonly closeGate: () => Promise<void>
  /** Lets the streams of the site go on, which wait after their first part. */
  readonly goOn: () => void
}

async function start(t: Test, front: Front, changed?: Parameters<typeof startFront>[3]): Promise<Behind> {
  const seen: ObservedRequest[] = []
  const sallyport = await openWithoutData(
    t,
    { policy: POLICY, challenge: { secret: SECRET }, refusal: { contact: CONTACT }, ja4Header: 'X-JA4' },
    { observe: (observed) => void seen.push(observed) },
  )
  let arrived: readonly string[] = []
  let goOn = (): void => {}
  const heard = new Promise<void>((resolve) => (goOn = resolve))
  const mcp = getRequestListener(createNewMcp(heard))
  const site = createServer((req, res) => {
    arrived = req.rawHeaders
    if (req.url === '/mcp') return mcp(req, res)
    if (req.url === '/events') {
      res.setHeader('content-type', 'text/event-stream').write('data: first\n\n')
      return heard.then(() => res.end('data: last\n\n'))
    }
    res.setHeader('content-type', 'text/html').end(`<title>The site</title><h1>${req.method} ${req.url}</h1>`)
  }).on('upgrade', (req, socket) => {
    arrived = req.rawHeaders
    agree(req, socket)
  })
  const origin = await running(site)
  t.teardown(() => origin.close())
  const at = `127.0.0.1:${origin.port}`
  // HAProxy stands before the gate, which forwards itself, and serves the methods that it is told of.
  const before = { upstream: `http://${at}`, methods: DAV }
  const gate = await startProxy(t, sallyport, front === 'haproxy' ? before : { forwardAuth: front })
  const { port } = await startFront(t, front, { gate: new URL(gate.url).host, origin: at }, changed)
  return { port, arrived: () => arrived, seen, closeGate: gate.close, goOn }
}

const DAV = 'PROPFIND PROPPATCH MKCOL MKCALENDAR REPORT COPY MOVE LOCK UNLOCK SEARCH'.split(' ')

/** Resolves when so many requests were observed; none more may be. */
async function observed(seen: readonly ObservedRequest[], count: number): Promise<void> {
  while (seen.length < count) await delay(5)
  await delay(150)
  if (seen.length !== count) throw new Error(`${seen.length} were observed: ${JSON.stringify(seen)}`)
}

/** Checks the page of a refusal: it has the visitor's language and the contact of the site. */
function isPage(t: Test, { status, headers, body }: WireResponse, expected: number, title: string): void {
  t.match([status, headers['content-type'], headers['content-language']], [expected, 'text/html; charset=utf-8', 'de'])
  t.match(body, `<title>${title}</title>`)
  t.match(body, CONTACT)
  t.match(headers['x-request-id'], /^[\w-]{8,}$/)
  t.match(body, headers['x-request-id'] as string)
}

const COLUMNS: Readonly<Record<string, (t: Test, behind: Behind) => Promise<void>>> = {
  async 'a block has the page, and JSON for programs'(t, { port, seen, arrived }) {
    const forged = ['X-Request-Id', 'forged-by-a-client', 'Retry-After', '6']
    const page = await visit({ port }, { target: '/closed/a', fields: GERMAN, more: forged })
    isPage(t, page, 403, 'Zugriff verweigert')
    t.notMatch(page, /forged|retry-after/i)
    await observed(seen, 1)
    t.equal(seen[0]?.id, page.headers['x-request-id'], 'the log has the id of the page')
    t.match(seen, [{ path: '/closed/a', answeredBy: 'refusal' }])
    const posted = { target: '/closed/a', method: 'POST', body: 'a=1', fields: ['Accept', '*/*'] }
    const program = await visit({ port }, posted)
    t.match([program.status, JSON.parse(program.body).error], [403, 'request_blocked'])
    t.equal((await visit({ port }, { target: '/closed/a', method: 'HEAD' })).status, 403)
    await observed(seen, 3)
    t.same(arrived(), [])
  },
  async 'a border by law is 451 with its link'(t, { port, seen }) {
    const page = await visit({ port }, { target: '/by-law/a', fields: GERMAN })
    isPage(t, page, 451, 'Aus rechtlichen Gründen nicht verfügbar')
    t.equal(page.headers['link'], '</>; rel="blocked-by"')
    const program = await visit({ port }, { target: '/by-law/a', fields: ['Accept', 'application/json'] })
    t.match([program.status, program.headers['link']], [451, /blocked-by/])
    await observed(seen, 2)
    t.match(seen, [{ status: 451 }, { status: 451 }])
  },
  async 'a throttle has Retry-After, and each request counts once'(t, { port, seen }) {
    const statuses: number[] = []
    for (let at = 0; at < 3; at++) statuses.push((await visit({ port }, { target: '/budget' })).status)
    t.same(statuses, [200, 200, 429])
    const page = await visit({ port }, { target: '/budget', fields: GERMAN })
    isPage(t, page, 429, 'Zu viele Anfragen')
    t.match(page.headers['retry-after'], /^\d+$/)
    const program = await visit({ port }, { target: '/budget', fields: ['Accept', 'application/json'] })
    t.match([program.status, JSON.parse(program.body).error], [429, 'rate_limit_exceeded'])
    t.match(program.headers['retry-after'], /^\d+$/)
    await observed(seen, 5)
    t.match(seen, [{ status: 200 }, { status: 200 }, { status: 429 }, { status: 429 }, { status: 429 }])
  },
  async 'a WebSocket is tunnelled, or refused'(t, { port, arrived }) {
    const { socket, head } = await upgrade(port, requestBytes('GET', '/chat', WEBSOCKET))
    t.match(head, /^HTTP\/1\.1 101 [\s\S]*\r\nsec-websocket-accept: /i)
    t.match(arrived().join('\n'), /^sallyport-action\nallow$/im, 'with the verdict')
    const back = new Promise<void>((resolve) => {
      socket.on('data', (text: string) => text.endsWith('hello') && resolve())
    })
    socket.write('\x81\x85\0\0\0\0hello')
    await back
    socket.destroy()
    const refused = await upgrade(port, requestBytes('GET', '/closed/chat', WEBSOCKET))
    t.match(refused.head, /^HTTP\/1\.1 403 /)
    refused.socket.destroy()
  },
  async 'the site reads nothing that a client forged'(t, { port, arrived, seen }) {
    for (const names of FORGED) {
      const more = names.flatMap((name) => [name, '6.6.6.6'])
      t.equal((await visit({ port }, { target: '/', more })).status, 200, names.join())
      t.notMatch(arrived().join('\n'), '6.6.6.6')
    }
    await observed(seen, FORGED.length)
    t.ok(seen.every(({ client }) => client === ADDRESS))
  },
  async 'methods of WebDAV and CalDAV reach the site'(t, { port }) {
    for (const method of DAV) {
      const { status, body } = await visit({ port }, { method, target: '/dav/', body: '<propfind/>' })
      t.match([status, body], [200, `${method} /dav/`])
    }
    const asked = await visit({ port }, { method: 'PROPFIND', target: '/asked/', fields: ['Accept', '*/*'] })
    t.match([asked.status, JSON.parse(asked.body).error], [403, 'challenge_required'])
    t.not((await visit({ port }, { method: 'TRACE', target: '/' })).status, 200)
  },
  async 'a stream arrives as it is sent'(t, { port, goOn }) {
    const { body } = await fetch(`http://127.0.0.1:${port}/events`)
    const parts = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
    t.equal((await parts.read()).value, 'data: first\n\n', 'while the site waits')
    goOn()
    t.equal((await parts.read()).value, 'data: last\n\n')
  },
  async 'a tool of MCP tells how far it is, and a rule blocks another'(t, { port, goOn }) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
    t.teardown(() => client.close())
    const { content } = await client.callTool({ name: 'search' }, { onprogress: goOn })
    t.match(content, [{ text: 'search: done' }], 'the server went on when its client knew')
    t.match(await client.callTool({ name: 'delete' }).catch((error: unknown) => error), { data: { status: 403 } })
  },
  async 'a refusal of MCP is JSON-RPC, and is observed once'(t, { port, seen }) {
    const call = async (name: string, version = '2026-07-28') => {
      const marks = ['MCP-Protocol-Version', version, 'Mcp-Method', 'tools/call', 'Mcp-Name', name]
      const more = [...(version < '2026' ? [] : marks), 'Content-Type', 'application/json']
      const sent = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } })
      const asked = { method: 'POST', target: '/mcp', fields: ['Accept', 'application/json, text/event-stream'] }
      const { status, headers, body } = await visit({ port }, { ...asked, more, body: sent })
      const { 'content-type': type, 'retry-after': wait, 'crawler-price': price } = headers
      return { status, type, wait, price, ...JSON.parse(body) }
    }
    const isRpc = { jsonrpc: '2.0', type: 'application/json' }
    for (const [name, status, data, price] of [
      ['delete', 403, { error: 'request_blocked' }, undefined],
      ['ask', 403, { error: 'challenge_required' }, undefined],
      ['buy', 402, { price: 'USD 0.01' }, 'USD 0.01'],
    ] as const) {
      t.match(await call(name), { ...isRpc, status, price, error: { code: status, data } })
    }
    await call('count')
    const few = await call('count')
    t.match(few, { ...isRpc, status: 429, wait: /^\d+$/, error: { data: { retryAfter: Number(few.wait) } } })
    // Without the headers of 2026-07-28 only a body says what is called, which HAProxy alone brings.
    const old = await call('delete', '2025-11-25')
    if (old.id === 7) t.match(old, { ...isRpc, status: 403 })
    else t.match(old, { ...isRpc, status: 400, error: { code: -32020, message: /^Header mismatch/ } })
    await observed(seen, 6)
    t.same(
      seen.flatMap(({ status, answeredBy }) => (answeredBy === 'refusal' ? [status] : [])),
      [403, 403, 402, 429, old.status],
    )
  },
}

const FORGED = [
  ['CF-Connecting-IP', 'True-Client-IP', 'X-Real-IP', 'X-Client-IP', 'Fastly-Client-IP', 'CF-Connecting-IPv6'],
  ['X-Forwarded-For', 'X-Forwarded-Host', 'Forwarded', 'Front-End-Https', 'Client-Cert', 'X-Envoy-External-Address'],
  ['Sallyport-Action', 'Sallyport-Bot-Probability', 'Sallyport-Country', 'Sallyport-Signature'],
]

/** Lists front servers by their command, with the status where the gate does not answer. */
const FRONTS = { nginx: 500, caddy: 502, haproxy: 503, traefik: 500, envoy: 403 } as const

const CHROMIUM = 't13d1516h2_8daaf6152771_02713d6af862'
const PROGRAM = 't13d1812h1_85036bcba153_d41ae481755e'

/** Has a front server say which JA4 it measured, as decision.md writes it. */
const MEASURED: Readonly<Partial<Record<Front, (ja4: string) => readonly [string, string]>>> = {
  nginx: (ja4) => ['$request_method;', `$request_method; proxy_set_header X-JA4 ${ja4};`],
  caddy: (ja4) => ['uri /.sallyport/check', `uri /.sallyport/check\n\t\t\theader_up X-JA4 ${ja4}`],
  haproxy(ja4) {
    const measured = `  http-request set-var(txn.fingerprint_ja4) str(${ja4})\n`
    const told = '  http-request set-header X-JA4 %[var(txn.fingerprint_ja4)]\n'
    const next = '  default_backend sallyport\n'
    return [next, measured + told + next]
  },
}

for (const [name, change] of Object.entries(MEASURED)) {
  const front = name as Front
  t.test(`${front}: the JA4 is the measured one, whatever a visitor writes`, { skip: noFront(front) }, async (t) => {
    for (const [measured, forged, status] of [
      [PROGRAM, CHROMIUM, 403],
      [CHROMIUM, PROGRAM, 200],
    ] as const) {
      const { port, seen } = await start(t, front, [change(measured)])
      const all = [[], ['X-JA4', forged], ['x-ja4', forged, 'X-Ja4', forged], ['X_JA4', forged]]
      for (const more of all) {
        t.equal((await visit({ port }, { target: '/measured/a', more })).status, status, more.join())
      }
      await observed(seen, all.length)
      t.ok(seen.every(({ ja4, ja4Header }) => ja4 === measured && ja4Header?.toLowerCase() === 'x-ja4'))
    }
  })
}

for (const [name, closed] of Object.entries(FRONTS)) {
  const front = name as Front
  for (const [column, check] of Object.entries(COLUMNS)) {
    t.test(`${front}: ${column}`, { skip: noFront(front) }, async (t) => check(t, await start(t, front)))
  }

  t.test(`${front}: Chromium passes challenges`, { skip: noFront(front) || NO_CHROMIUM }, async (t) => {
    const { port, seen } = await start(t, front)
    const rules = 'MAP site.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
    const browser = await openChromium(`--host-resolver-rules=${rules}`)
    t.teardown(() => browser.close())
    const context = await browser.newContext({ userAgent: readersAgent(browser) })
    const page = await context.newPage()
    for (const [path, level] of [
      ['asked', 2],
      ['harder', 3],
    ] as const) {
      const first = await page.goto(`http://site.example:${port}/${path}/a?b=c`)
      t.equal(first?.status(), 403)
      await page.getByRole('heading', { name: `GET /${path}/a?b=c` }).waitFor({ timeout: 60_000 })
      const steps = () => seen.flatMap(({ challenge }) => (challenge?.level === level ? [challenge.outcome] : []))
      while (!steps().includes('solved')) await delay(5)
      t.same(steps(), ['asked', 'solved'], 'one challenge is one')
    }
    // The page and the solution at the wanted path were counted once: three of four.
    const used = seen.flatMap(({ decision }) => decision?.limits?.map((limit) => limit.used) ?? [])
    t.ok(Math.max(...used) <= 2, used.join())
  })

  t.test(`${front}: without the gate nothing passes`, { skip: noFront(front) }, async (t) => {
    const { port, closeGate, arrived } = await start(t, front)
    await closeGate()
    t.equal((await visit({ port }, { target: '/' })).status, closed)
    t.same(arrived(), [])
  })
}

t.test('nginx with its fail-open timeout serves the site without a verdict', { skip: noFront('nginx') }, async (t) => {
  const { port, closeGate, arrived } = await start(t, 'nginx', [['# proxy_connect_timeout', 'proxy_connect_timeout']])
  t.equal((await visit({ port }, { target: '/closed/a' })).status, 403)
  await closeGate()
  const more = ['Sallyport-Action', '6.6.6.6', 'CF-Connecting-IP', '6.6.6.6']
  t.equal((await visit({ port }, { target: '/closed/a', more })).status, 200)
  t.notMatch(arrived().join('\n'), /6\.6\.6\.6|sallyport/i)
})
