import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { ObservedRequest } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { NO_CHROMIUM, openChromium, readersAgent } from '../chromium.ts'
import { ADDRESS, BROWSER, SECRET, visit } from './challenge-client.ts'
import { type Front, noFront, startFront } from './fronts.ts'
import { running } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { agree } from './site.ts'
import { requestBytes, upgrade, type WireResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Each example of a server in front, as its users run it: what every visitor must get there, whatever the server. */

const POLICY = {
  preset: 'observe',
  rules: [
    { id: 'closed', match: { path: ['/closed/**'] }, action: 'block' },
    { id: 'budget', match: { path: ['/budget'] }, action: 'throttle', limit: { key: 'client', max: 2, window: '1h' } },
    {
      id: 'visits',
      match: { path: ['/asked/**'] },
      action: 'throttle',
      limit: { key: 'client', max: 4, window: '1h' },
    },
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
}

async function start(t: Test, front: Front, changed?: Parameters<typeof startFront>[3]): Promise<Behind> {
  const seen: ObservedRequest[] = []
  const sallyport = await openWithoutData(
    t,
    { policy: POLICY, challenge: { secret: SECRET }, refusal: { contact: CONTACT } },
    { observe: (observed) => void seen.push(observed) },
  )
  let arrived: readonly string[] = []
  const site = createServer((req, res) => {
    arrived = req.rawHeaders
    res.setHeader('content-type', 'text/html').end(`<title>The site</title><h1>${req.method} ${req.url}</h1>`)
  }).on('upgrade', (req, socket) => {
    arrived = req.rawHeaders
    agree(req, socket)
  })
  const origin = await running(site)
  t.teardown(() => origin.close())
  // HAProxy stands before the gate, which forwards itself, and serves the methods that it is told of.
  const before = { upstream: `http://127.0.0.1:${origin.port}`, methods: DAV }
  const gate = await startProxy(t, sallyport, front === 'haproxy' ? before : { forwardAuth: front })
  const place = { gate: new URL(gate.url).host, origin: `127.0.0.1:${origin.port}` }
  const { port } = await startFront(t, front, place, changed)
  return { port, arrived: () => arrived, seen, closeGate: gate.close }
}

const DAV = ['PROPFIND', 'PROPPATCH', 'MKCOL', 'MKCALENDAR', 'REPORT', 'COPY', 'MOVE', 'LOCK', 'UNLOCK', 'SEARCH']

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
    const program = await visit(
      { port },
      { target: '/closed/a', method: 'POST', body: 'a=1', fields: ['Accept', '*/*'] },
    )
    t.match([program.status, JSON.parse(program.body).error], [403, 'request_blocked'])
    t.equal((await visit({ port }, { target: '/closed/a', method: 'HEAD' })).status, 403)
    await observed(seen, 3)
    t.same(arrived(), [])
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
    t.same(
      seen.map(({ status }) => status),
      [200, 200, 429, 429, 429],
    )
  },
  async 'a WebSocket is tunnelled, or refused'(t, { port, arrived }) {
    const key = ['Sec-WebSocket-Version', '13', 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']
    const fields = ['Connection', 'Upgrade', 'Upgrade', 'websocket', ...key]
    const { socket, head } = await upgrade(port, requestBytes('GET', '/chat', fields))
    t.match(head, /^HTTP\/1\.1 101 [\s\S]*\r\nsec-websocket-accept: /i)
    t.match(arrived().join('\n'), /^sallyport-action\nallow$/im, 'with the verdict')
    const back = new Promise<void>((resolve) => {
      socket.on('data', (text: string) => text.endsWith('hello') && resolve())
    })
    socket.write('\x81\x85\0\0\0\0hello')
    await back
    socket.destroy()
    const refused = await upgrade(port, requestBytes('GET', '/closed/chat', fields))
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
}

const FORGED = [
  ['CF-Connecting-IP', 'True-Client-IP', 'X-Real-IP', 'X-Client-IP', 'Fastly-Client-IP', 'CF-Connecting-IPv6'],
  ['X-Forwarded-For', 'X-Forwarded-Host', 'Forwarded', 'Front-End-Https', 'Client-Cert', 'X-Envoy-External-Address'],
  ['Sallyport-Action', 'Sallyport-Bot-Probability', 'Sallyport-Country', 'Sallyport-Signature'],
]

/** Lists front servers by their command, with the status where the gate does not answer. */
const FRONTS = { nginx: 500, caddy: 502, haproxy: 503 } as const
/** Their examples are spoken to in `forward-auth.test.ts`; no package of this machine has them. */
const ABSENT = ['traefik', 'envoy']

for (const name of ABSENT) t.test(name, { skip: noFront(name) || 'only spoken' }, async () => {})

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

t.test(
  'nginx that is told to fail open: the site is served without a verdict',
  { skip: noFront('nginx') },
  async (t) => {
    const { port, closeGate, arrived } = await start(t, 'nginx', [['# proxy_connect_timeout', 'proxy_connect_timeout']])
    t.equal((await visit({ port }, { target: '/closed/a' })).status, 403)
    await closeGate()
    const more = ['Sallyport-Action', '6.6.6.6', 'CF-Connecting-IP', '6.6.6.6']
    t.equal((await visit({ port }, { target: '/closed/a', more })).status, 200)
    t.notMatch(arrived().join('\n'), /6\.6\.6\.6|sallyport/i)
  },
)
