import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { ERRORS, isStale, SallyportError, withAge } from '@sallyport/core'
import { readJson } from '@sallyport/node/internal'
import { type AdminOpen, type AdminRole, isOpenPath } from './admin-access.ts'
import type { GateOptions, ProxyHost } from './gate/options.ts'
import { listenOn } from './listener/listen.ts'
import type { Listener } from './listener/listener.ts'

/** The address that the admin listener has by default. */
export const DEFAULT_ADMIN = '127.0.0.1:9090'

/** Grants access to the admin listener, and serves further pages. */
export interface AdminPages {
  /** Returns false, and does nothing, where the path is not a page; absent: there are no pages. */
  handle?(request: IncomingMessage, response: ServerResponse): boolean
  /** Reports whether a token or a session permits a role; `admin` may also read. Throws `rate_limit_exceeded` after wrong tokens. */
  permits(request: IncomingMessage, role: AdminRole): boolean
}

/** Counts the processes of a cluster, which share the admin listener. */
export interface WorkerCounts {
  /** Counts the processes that are configured. */
  readonly wanted: number
  /** Counts the processes that accept connections. */
  readonly serving: number
  /** Counts serving processes that have not responded for some seconds. */
  readonly silent: number
}

/** Holds the proxy's keys and hooks for its admin listener. */
export interface AdminOptions extends Pick<GateOptions, 'onNotice'> {
  /** Address of the health listener; absent: 127.0.0.1:9090, and none where that address is taken. */
  readonly admin?: string | undefined
  /** Lists paths of the health listener that never need a token; default: none, and only this machine may read without a token. */
  readonly adminOpen?: readonly AdminOpen[] | undefined
  /** Checks tokens and serves a program's pages on the health listener, as the console does; absent: no pages, and no token exists. */
  readonly adminPages?: AdminPages | undefined
  /** Whether data past its age makes the proxy not ready. */
  readonly data?: { readonly requireFresh?: boolean | undefined } | undefined
  /** Counts the processes of a cluster, as far as they are known; absent: this process alone. */
  readonly workers?: (() => WorkerCounts | undefined) | undefined
}

interface Answering extends Omit<AdminOptions, 'admin' | 'onNotice'> {
  readonly host: ProxyHost
  readonly listener: Pick<Listener, 'accepting' | 'certificates'>
  /** Returns the metrics; absent: there is no /metrics. */
  readonly metrics?: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
}

/**
 * Opens the operator's listener. `GET /healthz` reports liveness to every client. `/readyz` reports readiness with the sources past their
 * age, `/sources` describes each source, and `/metrics` serves Prometheus. These three answer this machine, readers, and clients that
 * `adminOpen` admits. `GET /bans` lists the bans in force for readers, and `/bans.txt` the banned addresses by line; `DELETE /bans/ID`
 * lifts a ban, and `POST /accounts/assess` judges an account event. Rejects with `cannot_listen` where a configured address is taken;
 * without the default address the proxy runs on, after a notice.
 */
export async function openAdmin({ admin, onNotice, ...answering }: AdminOptions & Answering) {
  const server = createServer(answer(answering))
  try {
    return await listenOn(server, admin ?? DEFAULT_ADMIN)
  } catch (error) {
    if (admin !== undefined || !(error instanceof Error)) throw error
    onNotice?.(`the admin listener could not start: ${error.message}`)
    return undefined
  }
}

/** An object is sent as JSON; a text has its type. `wait` is in seconds. */
type Answer = readonly [status: number, body: object | string, type?: string | undefined, wait?: number | undefined]

function answer(answering: Answering): RequestListener {
  const { host, metrics, adminOpen = [], adminPages: pages } = answering
  const assess = host.accounts?.assessDescribed
  const rows: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
    '/healthz': () => [200, { status: 'ok' }],
    '/readyz': () => reportReadiness(answering),
    '/sources': () => [200, { sources: host.sources().map((source) => withAge(source, Date.now())) }],
    '/bans': async () => [200, { bans: (await host.bans?.list()) ?? [] }],
    '/bans.txt': async () => {
      const listed = await host.exportedBans?.()
      return listed === undefined ? NOT_FOUND : [200, listed.map((line) => `${line}\n`).join(''), TEXT]
    },
    '/metrics': async () => {
      const scraped = await metrics?.()
      return scraped === undefined ? NOT_FOUND : [200, scraped.text, scraped.type]
    },
  }
  const answerPath = async (request: IncomingMessage, path: string): Promise<Answer> => {
    const { method } = request
    const permits = (role: AdminRole) => pages?.permits(request, role) === true
    const id = /^\/bans\/([\w-]{1,64})$/.exec(path)?.[1]
    if (id !== undefined) {
      if (method !== 'DELETE') return NOT_ALLOWED
      return permits('admin') ? lift(host, id) : UNAUTHORIZED
    }
    if (path === ASSESS && assess !== undefined) {
      if (method !== 'POST') return NOT_ALLOWED
      return permits('admin') ? [200, await assess(await readJson(request, request.headers, undefined))] : UNAUTHORIZED
    }
    const row = Object.hasOwn(rows, path) ? rows[path] : undefined
    if (row === undefined) return NOT_FOUND
    if (method !== 'GET' && method !== 'HEAD') return NOT_ALLOWED
    return isOpenPath(path, request, adminOpen) || permits('read') ? row() : UNAUTHORIZED
  }
  return (request, response) => {
    if (pages?.handle?.(request, response)) return
    const path = request.url?.split('?', 1)[0] ?? ''
    if (path !== ASSESS) request.resume()
    void answerPath(request, path)
      .catch(answerFailure)
      .then(([status, body, type = 'application/json', wait]) => {
        response.writeHead(status, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
          ...(wait === undefined ? {} : { 'Retry-After': String(wait) }),
          ...(status === 405
            ? { Allow: path === ASSESS ? 'POST' : path.startsWith('/bans/') ? 'DELETE' : 'GET, HEAD' }
            : {}),
        })
        response.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`)
      })
  }
}

const ASSESS = '/accounts/assess'

/** Answers too many wrong tokens and unusable bodies as such, and anything else as an internal fault. */
function answerFailure(error: unknown): Answer {
  if (error instanceof SallyportError && (ERRORS[error.code].status ?? 500) < 429) {
    return [ERRORS[error.code].status ?? 400, { error: error.code, message: error.message }]
  }
  const wait = error instanceof SallyportError ? error.details?.['retryAfter'] : undefined
  if (typeof wait !== 'number') return UNAVAILABLE
  return [429, { error: 'rate_limit_exceeded', message: ERRORS.rate_limit_exceeded.message }, undefined, wait]
}

/** Reports readiness. Stale data and missing workers only warn: removing the machine would lose the workers that serve. */
function reportReadiness({ host, listener, data, workers }: Answering): Answer {
  if (!listener.accepting) return [503, { status: 'draining' }]
  if (listener.certificates?.current().length === 0) return [503, { status: 'no certificate' }]
  const now = Date.now()
  const stale = host.sources().filter((source) => source.state === 'loaded' && isStale(source, now))
  const status = stale.length === 0 || !data?.requireFresh ? 'ready' : 'stale'
  const named = stale.length > 0 && { stale: stale.map(({ id }) => id) }
  const counts = workers?.()
  return [status === 'ready' ? 200 : 503, { status, ...named, ...(counts && { workers: counts }) }]
}

async function lift({ bans, log }: ProxyHost, id: string): Promise<Answer> {
  if (await bans?.lift(id)) {
    log?.audit({ what: 'bans lift', who: 'admin listener', details: { id } })
    return [200, { id, lifted: true }]
  }
  return [404, { error: 'unknown_ban', message: ERRORS.unknown_ban.message }]
}

const TEXT = 'text/plain; charset=utf-8'

const UNAUTHORIZED: Answer = [
  401,
  { error: 'unauthorized', message: 'A console token is required: Authorization: Bearer <TOKEN>.' },
]
const NOT_FOUND: Answer = [404, { error: 'not_found', message: ERRORS.not_found.message }]
const NOT_ALLOWED: Answer = [405, { error: 'method_not_allowed', message: ERRORS.method_not_allowed.message }]
const UNAVAILABLE: Answer = [503, { error: 'service_unavailable', message: ERRORS.service_unavailable.message }]
