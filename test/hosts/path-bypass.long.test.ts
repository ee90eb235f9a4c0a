import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import Router from '@koa/router'
import { compilePolicy, createInspector, type Decision, type InspectionRequest, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import { openProxy } from '@sallyport/proxy'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Koa from 'koa'
import t from 'tap'
import { AROUND, TARGETS } from './spellings.ts'

/* Real routers, each with a page under /admin that a rule of the policy blocks: no spelling of a target may reach it. */
interface Gate {
  decide(request: InspectionRequest): Decision
  readonly config?: { readonly paths: 'strict' } | undefined
}

/** Paths as an origin behind the proxy reads them from a target. */
type Reader = (target: string) => string

const decode: Reader = (text) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
const resolveUrl: Reader = (path) => new URL(`http://h/${path.replace(/[^/\w.;-]/g, '_')}`).pathname.slice(1)

const READERS: Readonly<Record<string, Reader>> = {
  'that reads URLs': (target) => (URL.canParse(target, 'http://h') ? decode(new URL(target, 'http://h').pathname) : ''),
  'like nginx': (target) => resolveUrl(decode(target.split('?', 1)[0] as string).replace(/\/+/g, '/')),
  'that takes overlong UTF-8': (target) =>
    resolveUrl(
      decode(target.split('?', 1)[0] as string)
        .replace(/[\xc0\xc1][\x80-\xbf]/g, (bytes) =>
          String.fromCharCode(((bytes.charCodeAt(0) & 1) << 6) | (bytes.charCodeAt(1) & 0x3f)),
        )
        .replace(/\/+/g, '/'),
    ),
}

/** Starts the proxy before an origin that reads paths in its own way. */
async function proxySite(sallyport: Gate, paths: 'strict' | 'pass', read: Reader): Promise<Running> {
  const origin = await startRunning(
    createServer((req, res) => {
      res.end(/^\/admin(?:\/|$)/i.test(read(req.url ?? '')) ? `${REACHED} ${req.url} ` : 'other')
    }),
  )
  const host = { ...sallyport, api: async () => undefined, sources: () => [] }
  const { url, close } = await openProxy(host, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    upstream: `http://127.0.0.1:${origin.port}`,
    api: { enabled: false },
    paths,
    timeouts: { drain: 0 },
  })
  return { port: Number(new URL(url).port), close: () => close().then(origin.close) }
}

function gate(blocks: boolean): Gate {
  const rules = blocks ? [{ id: 'no-admin', match: { path: ['/admin', '/admin/**'] }, action: 'block' as const }] : []
  return createInspector({
    clock: createFakeClock('2026-11-01T00:00:00Z'),
    snapshots: makeSnapshots(),
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode: 'enforce',
  })
}

interface Running {
  readonly port: number
  close(): Promise<void>
}

async function startRunning(server: Server): Promise<Running> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The guarded page answers with this text, which no visitor may read. */
const REACHED = 'reached-admin'

function expressSite(create: typeof express, below: string, sallyport: Gate): Promise<Running> {
  const app = create()
  app.use(forExpress.inspection(sallyport))
  app.all(['/admin', below], (req, res) => void res.send(`${REACHED} ${req.originalUrl} `))
  return startRunning(createServer(app))
}

const SITES: Readonly<Record<string, (sallyport: Gate) => Promise<Running>>> = {
  'Express 5': (sallyport) => expressSite(express, '/admin/*rest', sallyport),
  'Express 4': (sallyport) => expressSite(express4, '/admin/*', sallyport),
  async Koa(sallyport) {
    const app = new Koa()
    const router = new Router()
    router.all(['/admin', '/admin/{*rest}'], (ctx) => {
      ctx.body = `${REACHED} ${ctx.originalUrl} `
    })
    return startRunning(createServer(app.use(forKoa.inspection(sallyport)).use(router.routes()).callback()))
  },
  async Fastify(sallyport) {
    const app = Fastify({
      useSemicolonDelimiter: true,
      routerOptions: { caseSensitive: false, ignoreDuplicateSlashes: true },
    })
    await app.register(forFastify.inspection, { sallyport })
    for (const path of ['/admin', '/admin/*']) {
      app.all(path, (request, reply) => reply.send(`${REACHED} ${request.originalUrl} `))
    }
    await app.listen({ port: 0, host: '127.0.0.1' })
    return startRunning(app.server)
  },
  ...Object.fromEntries(
    Object.entries(READERS).flatMap(([name, read]) =>
      (['pass', 'strict'] as const).map((paths) => [
        `the proxy (paths: ${paths}) before a server ${name}`,
        (sallyport: Gate) => proxySite(sallyport, paths, read),
      ]),
    ),
  ),
}

/** Lists targets that reached the guarded page, each requested on a connection of its own. */
async function listReached(port: number, targets: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const waiting = [...targets]
  const ask = async (): Promise<void> => {
    for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
      const answer = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n`)
      if (answer.includes(REACHED)) found.push(target)
    }
  }
  await Promise.all(Array.from({ length: 16 }, ask))
  return found
}

function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(received))
  })
}

for (const [name, start] of Object.entries(SITES)) {
  t.test(`no spelling of a blocked path reaches ${name}`, async (t) => {
    const open = await start(gate(false))
    t.teardown(open.close)
    const ways = await listReached(open.port, AROUND)
    t.ok(ways.length > 10, `${ways.length} spellings reach the page where nothing is blocked`)
    const guarded = await start(gate(true))
    t.teardown(guarded.close)
    t.same(await listReached(guarded.port, TARGETS), [])
  })
}

t.test('adapters refuse what servers read in several ways where paths are strict', async (t) => {
  for (const name of ['Express 5', 'Koa', 'Fastify'] as const) {
    const site = await SITES[name]?.({ ...gate(false), config: { paths: 'strict' } })
    if (site === undefined) throw new Error(name)
    t.teardown(site.close)
    const ask = (target: string) =>
      exchange(site.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    t.match(
      await ask('/admin/../admin'),
      /^HTTP\/1\.1 400 [\s\S]*"invalid_request","message":"The path holds a dot segment\."/,
      name,
    )
    t.match(await ask('/admin/a%2Fb'), REACHED, `${name}: and nothing else`)
  }
})
