import { createHmac, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createNetServer, type Server } from 'node:net'
import { createHandoffSigner, type HandoffCheck, type HandoffKey, type HandoffVerifyKey } from '@sallyport/core'
import { freePort, listening } from '@sallyport/engine/testing'
import { verifyHandoff } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { startOrigin, startProxy } from './proxy.ts'
import { madeScene } from './scene.ts'
import { exchange } from './wire.ts'

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

const listen = async (t: Test, server: Server): Promise<string> => `http://127.0.0.1:${await listening(t, server)}`

const gateBefore = (t: Test, upstream: string, keys: readonly HandoffKey[]) =>
  startProxy(t, enforcing, { upstream, handoff: { keys } })

/** A server that says what it makes of each request, and keeps the upgrades. */
async function startVerifying(t: Test) {
  const server = createServer((req, res) => res.end(JSON.stringify({ host: req.headers.host, check: verify(req) })))
  const upgrades: IncomingMessage[] = []
  new WebSocketServer({ server }).on('connection', (_, request) => upgrades.push(request))
  const upstream = await listen(t, server)
  return {
    upstream,
    /** Opens a WebSocket through a gate, and resolves with the request for it. */
    async upgrade(url: string) {
      const client = new WebSocket(url.replace('http', 'ws'))
      await once(client, 'open')
      client.terminate()
      return upgrades.at(-1) as IncomingMessage
    },
    ask: async (url: string) => (await fetch(url)).json(),
  }
}

for (const [name, origin] of Object.entries(ORIGINS)) {
  t.test(`${name} knows what came through the gate`, async (t) => {
    const checks: HandoffCheck[] = []
    const listener = await origin((check) => {
      checks.push(check)
      return 'seen'
    })
    const upstream = await startOrigin(t, listener)
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
  const { upstream, upgrade, ask } = await startVerifying(t)
  const proxy = await gateBefore(t, upstream, [HMAC])
  t.match(verify(await upgrade(`${proxy.url}/chat?a`)), { verified: true, keyId: 'h' })

  const reload = (keys: readonly HandoffKey[]): Promise<void> =>
    proxy.reload({ limits: { eventLoopDelay: '1m' }, handoff: { keys } })
  await reload([ED25519, HMAC])
  t.match(await ask(proxy.url), { check: { verified: true, keyId: 'e' } }, 'the first signs')
  await t.rejects(reload([{ ...HMAC, secret: 'short' }]), { code: 'invalid_config' })
  t.match(await ask(proxy.url), { check: { keyId: 'e' } }, 'and nothing has changed')
  await reload([])
  t.match(await ask(proxy.url), { check: { verified: false } })
})

/** A request as the gate hands it over, changed on the way or not. */
function handed({ method = 'GET', url = '/a?b', fields = FIELDS } = {}): IncomingMessage {
  return { method, url, rawHeaders: fields } as unknown as IncomingMessage
}

const UNSIGNED = `Host shop.example Accept */* X-Forwarded-For 192.0.2.1 X-Forwarded-Proto https
X-Forwarded-Host shop.example sallyport-action allow sallyport-country DE`.split(/\s/)
const SIGNATURE = signed(HMAC)
const FIELDS = [...UNSIGNED, 'sallyport-signature', SIGNATURE]

function signed(key: HandoffKey, now = Date.now(), fields = UNSIGNED): string {
  return createHandoffSigner([key])?.sign({ method: 'GET', target: '/a?b', fields }, now) ?? ''
}

const withSignature = (value: string) => handed({ fields: [...UNSIGNED, 'sallyport-signature', value] })
/** Has the signature changed in one place. */
const altered = (from: string | RegExp, to: string) => withSignature(SIGNATURE.replace(from, to))
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
  const read = (name: string) => fields[fields.findIndex((one) => one.toLowerCase() === name) + 1]
  const values = covered.map((name) => `"${name}": ${read(name)}`)
  const base = ['"@method": GET', '"@request-target": /a?b', ...values, `"@signature-params": ${inner}`].join('\n')
  return `input=${inner}, signature=:${createHmac('sha256', secret).update(base).digest('base64')}:`
}

t.test('a signature of the first version is good for one round more, and says that it is one', async (t) => {
  t.match(verify(withSignature(ofFirstVersion(UNSIGNED))), { verified: true, version: 1 })
  const upgraded = verify(withSignature(ofFirstVersion(UNSIGNED).replace(';tag', ';v=2;tag')))
  t.match(upgraded, { verified: false, fault: 'host is not signed' })
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
    'a signature of no length': altered(/:[^:]{1,99}:$/, '::'),
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
    'a part of a field': altered('"sallyport-action"', '"sallyport-action";key="a"'),
  },
  '@method is not signed': { 'a part left out': altered('"@method" ', '') },
  'there is more than one sallyport-signature': { 'two signatures': more('Sallyport-Signature', SIGNATURE) },
  'the signature is too old, or from the future': {
    'an old one': withSignature(signed(HMAC, Date.now() - 65_000)),
    'one of the future': withSignature(signed(HMAC, Date.now() + 60_000)),
    'no time': altered(/;created=\d{1,12}/, ''),
    'a time without a number': altered(/;created=\d{1,12}/, ';created=now'),
  },
  'the key is unknown': {
    'another key': withSignature(signed({ ...HMAC, id: 'x' })),
    'another algorithm': altered('hmac-sha256', 'ed25519'),
    'the public key as a secret': withSignature(ofFirstVersion(UNSIGNED, { id: 'e', secret: pair.publicKey })),
  },
  'the signature is for another purpose': {
    'another purpose': altered('sallyport-handoff', 'web-bot-auth'),
  },
  'sallyport-signature is malformed': {
    'no half': altered(/,.{1,200}$/, ''),
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
  const { upstream, upgrade, ask } = await startVerifying(t)
  const nobody = `http://localhost:${await freePort()}`
  const proxy = await gateBefore(t, upstream, [HMAC])
  const good = { verified: true, version: 2 }
  t.match(await ask(proxy.url), { host: new URL(proxy.url).host, check: good })
  await proxy.reload({ routes: [{ upstreams: [nobody, upstream], hostHeader: 'origin' }] })
  const { host } = new URL(upstream)
  for (let round = 0; round < 3; round++) {
    t.match(await ask(proxy.url), { host, check: good }, 'also after a server that was not there')
  }
  const upgraded = await upgrade(proxy.url)
  t.equal(upgraded.headers.host, host)
  t.match(verify(upgraded), good)
  for (const routes of [[], [{ upstreams: [upstream], hostHeader: 'client' as const }]]) {
    await proxy.reload({ routes })
    const text = await exchange(proxy.port, 'GET / HTTP/1.0\r\n\r\n')
    t.match(text, /"verified":true/, 'a client of HTTP/1.0 that names no site')
  }
})

t.test('keys that cannot be used', async (t) => {
  const unusable = { code: 'invalid_config' }
  t.throws(() => createHandoffSigner([{ ...HMAC, id: 'a"b' }]), unusable)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const curve = privateKey.export({ type: 'sec1', format: 'pem' }).toString()
  for (const secret of ['short', pair.publicKey, curve]) {
    t.throws(() => createHandoffSigner([{ ...ED25519, secret }]), unusable)
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
  const { url } = await gateBefore(t, await listen(t, server), [HMAC])
  await fetch(url, { headers: { Sallyport_Signature: 'x', 'sallyport-signature': 'y' } })
  const names = [...(heads[0] ?? '').matchAll(/^(sallyport.[a-z-]+):/gim)].map(([, name]) => name)
  t.equal(names.at(-1), 'sallyport-signature')
  t.equal(names.filter((name) => name === 'sallyport-signature').length, 1)
  t.notMatch(names, ['Sallyport_Signature'])
})
