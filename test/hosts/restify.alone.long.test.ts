import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardUpgrade } from '@sallyport/node'
import * as forRestify from '@sallyport/node/restify'
import type { RequestHandler } from 'restify'
import t from 'tap'
import { checkHost } from './check-host.ts'
import { keepHabits } from './habits.ts'
import { answerEcho, type Host, running } from './host.ts'
import { HOSTS } from './hosts.ts'
import { HTTP1, NO_OPENSSL, protocolsOverTls, tlsFiles } from './protocols.ts'
import { madeScene } from './scene.ts'
import type { WireResponse } from './wire.ts'

/*
 * The conformance table and the habits for restify. Its import changes requests and responses of node:http for the whole process
 * (prototypes, `writeHead`): node:http is asked before it, so that its bytes are those of a process without restify.
 */
const scene = madeScene()
const [first] = HOSTS
const expected = new Map(['', '/detect'].map((base) => [base, new Map<string, WireResponse>()]))

t.test('node:http, before restify is imported', async (t) => {
  if (first === undefined) throw new TypeError('there is no host')
  for (const [base, seen] of expected) await checkHost(t, first, scene, base, seen)
})

const restify: Host = {
  name: 'restify 12',
  speaks: ['tls'],
  async start(sallyport, base, options = {}, { certificate } = HTTP1) {
    const { createServer } = await import('restify')
    const files = certificate && tlsFiles(certificate)
    const app = createServer(files && { certificate: files.cert, key: files.key })
    app.pre(
      forRestify.inspection(sallyport, options) as RequestHandler,
      forRestify.v1(sallyport, { base }) as RequestHandler,
    )
    for (const method of ['get', 'head', 'post', 'opts'] as const) {
      app[method]('/*', (req, res, next) => void answerEcho(req as IncomingMessage, res).then(() => next(false), next))
    }
    guardUpgrade(app.server, sallyport, options)
    return running(app.server)
  },
}

for (const [base, seen] of expected) {
  t.test(`restify, mounted ${base === '' ? 'at the root' : `under ${base}`}`, async (t) => {
    await checkHost(t, restify, scene, base, seen)
    await t.test('over TLS', { skip: NO_OPENSSL }, async (t) => {
      for (const over of protocolsOverTls(t)) if (!over.http2) await checkHost(t, restify, scene, base, seen, over)
    })
  })
}

t.test('other hosts of a process that has imported restify answer as before', async (t) => {
  await import('restify')
  for (const host of HOSTS) await t.test(host.name, (t) => checkHost(t, host, scene, '', expected.get('') ?? new Map()))
})

keepHabits(restify)

t.test('restify counts a refused request as ended', async (t) => {
  const { createServer } = await import('restify')
  const server = createServer()
  server.pre(forRestify.inspection(scene.enforcing) as RequestHandler)
  server.get('/shop', (req, res, next) => {
    res.send({ action: req.headers['sallyport-action'] })
    next()
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.server.address() as AddressInfo
  for (const [{ address }, status] of [
    [scene.allowed, 200],
    [scene.blocked, 403],
  ] as const) {
    const ended = once(server, 'after')
    const headers = { 'x-forwarded-for': address, connection: 'close' }
    t.equal((await fetch(`http://127.0.0.1:${port}/shop`, { headers })).status, status)
    await ended
    t.equal((server as unknown as { inflightRequests(): number }).inflightRequests(), 0)
  }
})

t.test('a mount refuses what is no option', async (t) => {
  t.throws(() => forRestify.inspection(scene.enforcing, { skips: true } as never), { code: 'invalid_config' })
})
