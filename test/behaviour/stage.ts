import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Decision, HabitState, InspectionRequest } from '@sallyport/core'
import { type ConfigInput, open } from '@sallyport/engine'
import { freePort } from '@sallyport/engine/testing'
import { openProxy } from '@sallyport/proxy'
import { certificate } from '../certificate.ts'
import { running } from '../hosts/host.ts'
import { openRelay } from '../relay.ts'
import type { SiteKind } from './sites.ts'

/** An answer of an application, as it is given again without the application. */
export interface Answer {
  readonly status: number
  readonly type: string
  readonly tag: string | undefined
  readonly cache: string | undefined
}

/** A request as the gate received it, and what it decided. */
export interface Seen {
  readonly at: number
  readonly request: InspectionRequest
  readonly decision: Decision
}

/** A gate is the proxy before an application. */
export interface Stage {
  /** Resolves with the requests that a function causes; they come from the address, or each connection from one that is given. */
  visit(address: string | (() => string), run: (urls: Urls) => Promise<void>): Promise<readonly Seen[]>
  /** What the application has answered is kept by target. */
  readonly answers: ReadonlyMap<string, Answer>
  readonly plainUrl: string
  /** What the gate has learnt of people. */
  habits(): readonly HabitState[]
  isPage(target: string): boolean
  close(): Promise<void>
}

export interface Urls {
  readonly plain: string
  readonly secure: string
  readonly ca: string
}

export interface StageOptions {
  /** The folder of an application that runs; absent: `answers` are given again. */
  readonly folder?: string | undefined
  readonly answers?: ReadonlyMap<string, Answer> | undefined
  readonly config?: Partial<ConfigInput> | undefined
  readonly onSeen?: ((seen: Seen) => void) | undefined
}

/** Longer than the records of answers wait to be counted together. */
const COUNTED_MS = 150

/** No application of npm sets one before a visitor logs in; load balancers do, and most sites. */
export const COOKIE = 'server'

export async function openStage(site: SiteKind, options: StageOptions): Promise<Stage> {
  const { folder } = options
  const home = mkdtempSync(join(tmpdir(), 'sallyport-behaviour-run-'))
  const application = folder === undefined ? undefined : await startSite(site, folder)
  const answers = new Map(options.answers)
  const serve = application === undefined ? replay(answers) : forward(application.port, site, answers)
  const front = await running(createServer(serve))
  const sallyport = await open(
    {
      dataDir: join(home, 'state'),
      data: { refresh: false, city: false },
      net: { outbound: false },
      log: { requests: 'off' },
      trustProxy: ['loopback'],
      policy: { preset: 'low-friction' },
      ...options.config,
    },
    { clock: { now: () => Date.now() }, onNotice: () => {} },
  )
  let seen: Seen[] = []
  const shared = {
    ...sallyport.config,
    upstream: `http://127.0.0.1:${front.port}`,
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    proxyProtocol: 'v1',
    tls: undefined,
    limits: { eventLoopDelay: '1m' },
    onDecision(decision: Decision, asked: InspectionRequest) {
      const one = { at: Date.now(), request: asked, decision }
      if (options.onSeen === undefined) seen.push(one)
      else options.onSeen(one)
    },
  } as const
  const tls = certificate(home)
  const plain = await openProxy(sallyport, shared)
  const secure = await openProxy(sallyport, { ...shared, tls: { certificates: [tls] } })
  return {
    answers,
    plainUrl: plain.url,
    habits: () => sallyport.behaviour.habits,
    isPage: (target) => /html/.test(answers.get(target)?.type ?? '') && (answers.get(target)?.status ?? 500) < 400,
    async visit(address, visits) {
      seen = []
      const relays = await Promise.all([plain, secure].map(({ url }) => openRelay(url, address)))
      const [one, other] = relays.map(({ port }) => port)
      await visits({ plain: `http://localhost:${one}`, secure: `https://localhost:${other}`, ca: tls.cert })
      await delay(COUNTED_MS)
      await Promise.all(relays.map((relay) => relay.close()))
      return seen
    },
    async close() {
      await Promise.all([plain, secure].map((proxy) => proxy.close('cut')))
      await sallyport.close()
      await front.close()
      application?.kill()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function startSite(site: SiteKind, folder: string): Promise<{ readonly port: number; kill(): void }> {
  const port = await freePort()
  const [command = '', ...args] = site.serve(folder, port)
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  while (!said.includes(site.until)) {
    if (child.exitCode !== null) throw new Error(`${site.name} ended: ${said}`)
    await delay(50)
  }
  return { port, kill: () => void child.kill('SIGKILL') }
}

type Serve = (req: IncomingMessage, res: ServerResponse) => void

/** The cookie of the load balancer, for a page to a visitor who has none. */
function cookieFields(req: IncomingMessage, type: string): readonly string[] {
  if (!type.includes('html') || req.headers.cookie?.includes(`${COOKIE}=`)) return []
  return ['Set-Cookie', `${COOKIE}=1; Path=/`]
}

/** Hands requests on and notes the answers. `/page/N` is the application's page of that number, for tools that count. */
function forward(port: number, site: SiteKind, answers: Map<string, Answer>): Serve {
  const agent = new Agent({ keepAlive: true })
  return (req, res) => {
    const path = (req.url ?? '/').replace(/^\/page\/(\d+)$/, (_, number) => site.page(Number(number)))
    const headers = [...req.rawHeaders.filter((_, at, all) => !/^host$/i.test(all[at - (at % 2)] ?? ''))]
    const sent = request(
      { port, host: '127.0.0.1', agent, path, method: req.method ?? 'GET', headers: [...headers, 'Host', 'localhost'] },
      (got) => {
        const { 'content-type': type = '', etag, 'last-modified': changed, 'cache-control': cache } = got.headers
        const status = got.statusCode ?? 500
        if (status !== 304) answers.set(req.url ?? '/', { status, type, tag: etag ?? changed, cache })
        res.writeHead(status, [...got.rawHeaders, ...cookieFields(req, type)])
        got.pipe(res)
      },
    )
    sent.on('error', () => res.destroy())
    req.pipe(sent)
  }
}

const TEXT = '<!doctype html><title>Page</title><p>Page'

/** Gives the noted answers again: a validator that was given is answered by 304. */
function replay(answers: ReadonlyMap<string, Answer>): Serve {
  return (req, res) => {
    const { status, type, tag, cache } = answers.get(req.url ?? '/') ?? { status: 404, type: 'text/plain' }
    const isKnown = 'if-none-match' in req.headers || 'if-modified-since' in req.headers
    const fields = tag === undefined ? [] : ['ETag', tag]
    const kept = cache === undefined ? [] : ['Cache-Control', cache]
    if (tag !== undefined && isKnown) res.writeHead(304, fields).end()
    else {
      const length = ['Content-Type', type, 'Content-Length', String(TEXT.length)]
      res.writeHead(status, [...length, ...fields, ...kept, ...cookieFields(req, type)]).end(TEXT)
    }
  }
}
