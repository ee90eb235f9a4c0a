import { createHmac, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Server } from 'node:net'
import { createHandoffSigner, type HandoffCheck, type HandoffKey, type HandoffVerifyKey } from '@sallyport/core'
import { verifyHandoff } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { startProxy } from './proxy.ts'
import { madeScene } from './scene.ts'

/* An origin that can be reached around the gate believes what the gate signed, and nothing else. */
const { allowed, enforcing } = madeScene()
const SECRET = 'correct horse battery staple, and more'
const pair = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

const HMAC: HandoffKey = { id: 'h', secret: SECRET }
const ED25519: HandoffKey = { id: 'e', secret: pair.privateKey }
const KNOWN: readonly HandoffVerifyKey[] = [
  { ...HMAC, algorithm: 'hmac-sha256' },
  { id: 'e', algorithm: 'ed25519', publicKey: pair.publicKey },
]
const verify = verifyHandoff({ keys: KNOWN })

type Origin = (checked: (check: HandoffCheck) => string) => RequestListener | Promise<RequestListener>

const ORIGINS: Readonly<Record<string, Origin>> = {
  'node:http': (checked) => (req, res) => res.end(checked(verify(req))),
  Express: (checked) => {
    const router = express.Router()
    router.all('/b', (req, res) => void res.send(checked(verify(req))))
    return express().use('/a', router) as unknown as RequestListener
  },
  Koa: (checked) => {
    const app = new Koa()
    app.use((ctx) => {
      ctx.url = '/rewritten'
      ctx.body = checked(verify(ctx))
    })
    return app.callback()
  },
  Fastify: async (checked) => {
    const app = Fastify({ rewriteUrl: ({ url = '/' }) => url.replace('/a/b', '/rewritten') })
    app.all('/rewritten', async (request) => checked(verify(request)))
    await app.ready()
    return (req, res) => app.routing(req, res)
  },
}

async function listening(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function gateBefore(t: Test, upstream: string, keys: readonly HandoffKey[]) {
  return startProxy(t, enforcing, { upstream, handoff: { keys }, timeouts: { drain: 100 } })
}

for (const [name, origin] of Object.entries(ORIGINS)) {
  t.test(`${name} knows what came through the gate`, async (t) => {
    const checks: HandoffCheck[] = []
    const listener = await origin((check) => {
      checks.push(check)
      return 'seen'
    })
    const upstream = await listening(t, createServer(listener))
    for (const key of [HMAC, ED25519]) {
      const { url } = await gateBefore(t, upstream, [key])
      for (const method of ['GET', 'POST']) {
        const headers = { 'x-forwarded-for': allowed.address, 'sallyport-signature': 'input=(), signature=:AA==:' }
        const answer = await fetch(`${url}/a/b?c=%20d`, { method, headers, ...(method === 'POST' && { body: 'x' }) })
        t.equal(await answer.text(), 'seen')
        t.match(checks.pop(), { verified: true, keyId: key.id, created: Number })
      }
    }
    await fetch(`${upstream}/a/b`, { headers: { 'sallyport-action': 'allow', 'x-forwarded-for': allowed.address } })
    t.strictSame(checks.pop(), { verified: false, fault: 'sallyport-signature is missing' })
  })
}

t.test('an upgrade is signed too, and a reload changes the key', async (t) => {
  const server = createServer((req, res) => res.end(JSON.stringify(verify(req))))
  const sockets = new WebSocketServer({ server })
  const asked: IncomingMessage[] = []
  sockets.on('connection', (_, request) => asked.push(request))
  const proxy = await gateBefore(t, await listening(t, server), [HMAC])
  const client = new WebSocket(`${proxy.url.replace('http', 'ws')}/chat?a`)
  await once(client, 'open')
  client.terminate()
  t.match(verify(asked[0] as IncomingMessage), { verified: true, keyId: 'h' })

  const reload = (keys: readonly HandoffKey[]): Promise<void> =>
    proxy.reload({ limits: { eventLoopDelay: '1m' }, handoff: { keys } })
  await reload([ED25519, HMAC])
  t.match(await (await fetch(proxy.url)).json(), { verified: true, keyId: 'e' }, 'the first signs')
  await t.rejects(reload([{ ...HMAC, secret: 'short' }]), { code: 'invalid_config' })
  t.match(await (await fetch(proxy.url)).json(), { keyId: 'e' }, 'and nothing has changed')
  await reload([])
  t.match(await (await fetch(proxy.url)).json(), { verified: false })
})

/** A request as the gate hands it over, changed on the way or not. */
function handed({ method = 'GET', url = '/a?b', fields = FIELDS } = {}): IncomingMessage {
  return { method, url, rawHeaders: fields } as unknown as IncomingMessage
}

const UNSIGNED = [
  'Host',
  'shop.example',
  'Accept',
  '*/*',
  'X-Forwarded-For',
  '192.0.2.1',
  'X-Forwarded-Proto',
  'https',
  'X-Forwarded-Host',
  'shop.example',
  'sallyport-action',
  'allow',
  'sallyport-country',
  'DE',
]
const SIGNATURE = signed(HMAC)
const FIELDS = [...UNSIGNED, 'sallyport-signature', SIGNATURE]

function signed(key: HandoffKey, now = Date.now(), fields = UNSIGNED): string {
  return createHandoffSigner([key])?.sign({ method: 'GET', target: '/a?b', fields }, now) ?? ''
}

function withSignature(value: string): IncomingMessage {
  return handed({ fields: [...UNSIGNED, 'sallyport-signature', value] })
}

const replaced = (from: string, to: string) => handed({ fields: FIELDS.map((part) => (part === from ? to : part)) })
const more = (name: string, value: string) => handed({ fields: [...FIELDS, name, value] })
const without = (name: string) =>
  handed({ fields: FIELDS.filter((_, at) => FIELDS[at - (at % 2)]?.toLowerCase() !== name) })

t.match(verify(handed()), { verified: true, version: 2 })

/** As gates signed before the Host was covered: the same base without it. */
function ofFirstVersion(fields: readonly string[], { id, secret } = HMAC): string {
  const covered = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'sallyport-action', 'sallyport-country']
  const names = ['@method', '@request-target', ...covered].map((name) => `"${name}"`).join(' ')
  const inner = `(${names});created=${Math.floor(Date.now() / 1000)};keyid="${id}";alg="hmac-sha256";tag="sallyport-handoff"`
  const values = covered.map(
    (name) => `"${name}": ${fields[fields.findIndex((one) => one.toLowerCase() === name) + 1]}`,
  )
  const base = ['"@method": GET', '"@request-target": /a?b', ...values, `"@signature-params": ${inner}`].join('\n')
  return `input=${inner}, signature=:${createHmac('sha256', secret).update(base).digest('base64')}:`
}

t.test('a signature of the first version is good for one round more, and says that it is one', async (t) => {
  t.match(verify(withSignature(ofFirstVersion(UNSIGNED))), { verified: true, version: 1 })
  t.match(verify(withSignature(`${ofFirstVersion(UNSIGNED)}`.replace(';tag', ';v=2;tag'))), {
    verified: false,
    fault: 'host is not signed',
  })
  t.match(verify(withSignature(signed(HMAC).replace(';v=2', ''))), {
    verified: false,
    fault: 'the signature does not match the request',
  })
})
t.match(verify(handed({ fields: [...FIELDS, 'Cookie', 'a=b'] })), { verified: true }, 'other fields are not covered')
t.match(verify(replaced('Host', 'HOST')), { verified: true }, 'the case of a name means nothing')
t.match(verify(withSignature(signed(HMAC, Date.now() - 55_000))), { verified: true })

/** Changed requests by the fault that each is refused with. */
const TAMPERED: Readonly<Record<string, Readonly<Record<string, IncomingMessage>>>> = {
  'the signature does not match the request': {
    'another method': handed({ method: 'POST' }),
    'another target': handed({ url: '/a?c' }),
    'another client': replaced('192.0.2.1', '192.0.2.2'),
    'another verdict': replaced('allow', 'flag'),
    'another country': replaced('DE', 'FR'),
    'another Host': handed({ fields: FIELDS.with(FIELDS.indexOf('Host') + 1, 'other.example') }),
    'a Host more': more('host', 'x'),
    'another scheme': replaced('https', 'http'),
    'a verdict twice': more('sallyport-action', 'allow'),
    'a client more': more('x-forwarded-for', '::1'),
    'another secret': withSignature(signed({ ...HMAC, secret: SECRET.toUpperCase() })),
    'a signature of no length': withSignature(SIGNATURE.replace(/:[^:]{1,99}:$/, '::')),
  },
  'a signed component is missing from the request': {
    'no Host': without('host'),
    'no verdict': without('sallyport-action'),
    'no client': without('x-forwarded-for'),
  },
  'host is not signed': {
    'a Host where none was signed': handed({
      fields: ['Host', 'x', ...UNSIGNED.slice(2), 'sallyport-signature', signed(HMAC, Date.now(), UNSIGNED.slice(2))],
    }),
  },
  'sallyport-trial is not signed': { 'a verdict more': more('sallyport-trial', 'block') },
  'sallyport_action is not signed': { 'a verdict by another spelling': more('Sallyport_Action', 'allow') },
  'x_forwarded.for is not signed': { 'a client by another spelling': more('X_Forwarded.For', '::1') },
  'sallyport-action is not signed': {
    'a part of a field': withSignature(SIGNATURE.replace('"sallyport-action"', '"sallyport-action";key="a"')),
  },
  '@method is not signed': { 'a part left out': withSignature(SIGNATURE.replace('"@method" ', '')) },
  'there is more than one sallyport-signature': { 'two signatures': more('Sallyport-Signature', SIGNATURE) },
  'the signature is too old, or from the future': {
    'an old one': withSignature(signed(HMAC, Date.now() - 65_000)),
    'one of the future': withSignature(signed(HMAC, Date.now() + 60_000)),
    'no time': withSignature(SIGNATURE.replace(/;created=\d{1,12}/, '')),
    'a time without a number': withSignature(SIGNATURE.replace(/;created=\d{1,12}/, ';created=now')),
  },
  'the key is unknown': {
    'another key': withSignature(signed({ ...HMAC, id: 'x' })),
    'another algorithm': withSignature(SIGNATURE.replace('hmac-sha256', 'ed25519')),
    'the public key as a secret': withSignature(ofFirstVersion(UNSIGNED, { id: 'e', secret: pair.publicKey })),
  },
  'the signature is for another purpose': {
    'another purpose': withSignature(SIGNATURE.replace('sallyport-handoff', 'web-bot-auth')),
  },
  'sallyport-signature is malformed': {
    'no half': withSignature(SIGNATURE.replace(/,.{1,200}$/, '')),
    'a third half': withSignature(`${SIGNATURE}, more=1`),
    'no list': withSignature('input=1, signature=:AA==:'),
    'no dictionary': withSignature('\u00ff'),
    'far too much': withSignature(`${SIGNATURE}, more=${'1'.repeat(9000)}`),
  },
}
for (const [fault, requests] of Object.entries(TAMPERED)) {
  for (const [name, request] of Object.entries(requests))
    t.strictSame(verify(request), { verified: false, fault }, name)
}

t.test('the Host that is signed is the one that the server gets', async (t) => {
  const server = createServer((req, res) => res.end(JSON.stringify({ host: req.headers.host, check: verify(req) })))
  const sockets = new WebSocketServer({ server })
  const opened: IncomingMessage[] = []
  sockets.on('connection', (_, request) => opened.push(request))
  const upstream = await listening(t, server)
  const gone = createNetServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const nobody = `http://localhost:${(gone.address() as AddressInfo).port}`
  await new Promise((resolve) => gone.close(resolve))
  const proxy = await gateBefore(t, upstream, [HMAC])
  const good = { verified: true, version: 2 }
  t.match(await (await fetch(proxy.url)).json(), { host: new URL(proxy.url).host, check: good })
  await proxy.reload({ routes: [{ upstreams: [nobody, upstream], hostHeader: 'origin' }] })
  for (let round = 0; round < 3; round++) {
    const answer = await fetch(proxy.url)
    t.match(
      await answer.json(),
      { host: new URL(upstream).host, check: good },
      'also after a server that was not there',
    )
  }
  const client = new WebSocket(proxy.url.replace('http', 'ws'))
  await once(client, 'open')
  client.terminate()
  t.match(opened[0]?.headers.host, new URL(upstream).host)
  t.match(verify(opened[0] as IncomingMessage), good)
  const { port, hostname } = new URL(proxy.url)
  for (const routes of [[], [{ upstreams: [upstream], hostHeader: 'client' as const }]]) {
    await proxy.reload({ routes })
    const socket = connect(Number(port), hostname)
    socket.write('GET / HTTP/1.0\r\n\r\n')
    let text = ''
    for await (const chunk of socket) text += chunk
    t.match(text, /"verified":true/, 'a client of HTTP/1.0 that names no site')
  }
})

t.test('keys that cannot be used', async (t) => {
  const unusable = { code: 'invalid_config' }
  for (const key of [
    { ...HMAC, id: 'a"b' },
    { ...HMAC, secret: 'short' },
    { ...ED25519, secret: 'no pem' },
    { ...ED25519, secret: pair.publicKey },
    {
      ...ED25519,
      secret: generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'sec1', format: 'pem' })
        .toString(),
    },
  ]) {
    t.throws(() => createHandoffSigner([key]), unusable)
  }
  t.throws(() => verifyHandoff({ keys: [{ id: 'e', algorithm: 'ed25519' }] }), unusable)
  t.throws(() => verifyHandoff({ keys: [{ id: 'h', algorithm: 'hmac-sha256' }] }), unusable)
  t.throws(() => verifyHandoff({ keys: [] }), unusable, 'without keys nothing would ever pass')
})

t.test('an origin that sees raw bytes finds the field once, after the verdict', async (t) => {
  const heads: string[] = []
  const server = createNetServer((socket) =>
    socket.on('data', (data) => {
      heads.push(data.toString('latin1'))
      socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
    }),
  )
  const { url } = await gateBefore(t, await listening(t, server), [HMAC])
  await fetch(url, { headers: { Sallyport_Signature: 'x', 'sallyport-signature': 'y' } })
  const names = [...(heads[0] ?? '').matchAll(/^(sallyport.[a-z-]+):/gim)].map(([, name]) => name)
  t.equal(names.at(-1), 'sallyport-signature')
  t.equal(names.filter((name) => name === 'sallyport-signature').length, 1)
  t.notMatch(names, ['Sallyport_Signature'])
})
