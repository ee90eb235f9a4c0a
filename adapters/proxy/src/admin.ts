import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type BanList, ERRORS, isStale, SallyportError, type SourceStatus } from '@sallyport/core'
import { type AdminOpen, type AdminPath, type AdminRole, isAdminPath, isOpenPath } from './admin-access.ts'
import { type Listening, listenOn } from './listener/listen.ts'

/** Address of the admin listener where none is named. */
export const DEFAULT_ADMIN = '127.0.0.1:9090'

/** Grants access to the admin listener, and has pages beside its own. */
export interface AdminPages {
  /** False, and nothing done, where the path is none of theirs; absent: there are no pages. */
  handle?(request: IncomingMessage, response: ServerResponse): boolean
  /** Whether a request shows a token of a role, or a session; `admin` is also a reader. Throws `rate_limit_exceeded` after wrong ones. */
  permits(request: IncomingMessage, role: AdminRole): boolean
}

/** The processes of a cluster, which share the admin listener. */
export interface WorkerCounts {
  /** How many there are to be. */
  readonly wanted: number
  /** How many take connections. */
  readonly serving: number
  /** How many of these have shown no sign of life for some seconds. */
  readonly silent: number
}

export interface AdminOptions {
  /** `host:port`; absent: 127.0.0.1:9090, and no admin listener where that is taken. */
  readonly address?: string | undefined
  readonly sources: () => readonly SourceStatus[]
  /** False once the proxy no longer takes requests. */
  readonly accepting: () => boolean
  /** Whether data that is past its age makes the proxy not ready. */
  readonly requireFresh: boolean
  /** Those that TLS is served with; absent: there is no TLS. */
  readonly certificates?: (() => readonly unknown[]) | undefined
  /** Absent: this process is the only one. */
  readonly workers?: (() => WorkerCounts | undefined) | undefined
  /** Absent: there is no /metrics. */
  readonly metrics?: (() => Promise<{ readonly type: string; readonly text: string }>) | undefined
  /** Absent: nobody is ever banned. */
  readonly bans?: BanList | undefined
  /** Addresses and networks for `GET /bans.txt`; absent: there is no such list. */
  readonly exportedBans?: (() => Promise<readonly string[]>) | undefined
  /** Paths that need no token from anywhere. */
  readonly open: readonly AdminOpen[]
  /** Absent: nobody has a token, so that bans are neither shown nor lifted here. */
  readonly pages?: AdminPages | undefined
  /** Called when a ban is lifted. */
  readonly onLifted?: ((id: string) => void) | undefined
  readonly onNotice: (message: string) => void
}

/**
 * The operator's listener. `GET /healthz` is liveness, for everybody; `/readyz` readiness, with the sources that are past
 * their age, `/sources` all that is known of each, `/metrics` for Prometheus: for this machine, those who may read, and
 * whom `open` lets in; `GET /bans` lists the bans in force to those who may read, `/bans.txt` what they ban, a line each,
 * and `DELETE /bans/ID` lifts one. A configured address that is taken rejects with `cannot_listen`; without the default one
 * the proxy runs on, after a notice.
 */
export async function openAdmin({ address, onNotice, ...answering }: AdminOptions): Promise<Listening | undefined> {
  const server = createServer(answer(answering))
  try {
    return await listenOn(server, address ?? DEFAULT_ADMIN)
  } catch (error) {
    if (address !== undefined || !(error instanceof Error)) throw error
    onNotice(`no health listener: ${error.message}`)
    return undefined
  }
}

/** An object is JSON; a text has its type. `wait` is in seconds. */
type Answer = readonly [status: number, body: object | string, type?: string | undefined, wait?: number | undefined]

type Answering = Omit<AdminOptions, 'address' | 'onNotice'>

function answer(answering: Answering): RequestListener {
  const { sources, metrics, bans, exportedBans, open, pages } = answering
  const rows: Readonly<Record<AdminPath, () => Answer | Promise<Answer>>> = {
    '/healthz': () => [200, { status: 'ok' }],
    '/readyz': () => readiness(answering),
    '/sources': () => [200, { sources: sources().map(aged) }],
    '/bans': async () => [200, { bans: (await bans?.list()) ?? [] }],
    '/bans.txt': async () => {
      const listed = await exportedBans?.()
      return listed === undefined ? NOT_FOUND : [200, listed.map((line) => `${line}\n`).join(''), TEXT]
    },
    '/metrics': async () => {
      const scraped = await metrics?.()
      return scraped === undefined ? NOT_FOUND : [200, scraped.text, scraped.type]
    },
  }
  const answerOf = async (request: IncomingMessage, path: string): Promise<Answer> => {
    const { method } = request
    const permits = (role: AdminRole) => pages?.permits(request, role) === true
    const id = /^\/bans\/([\w-]{1,64})$/.exec(path)?.[1]
    if (id !== undefined) {
      if (method !== 'DELETE') return NOT_ALLOWED
      return permits('admin') ? lift(answering, id) : UNAUTHORIZED
    }
    if (!isAdminPath(path)) return NOT_FOUND
    if (method !== 'GET' && method !== 'HEAD') return NOT_ALLOWED
    return isOpenPath(path, request, open) || permits('read') ? rows[path]() : UNAUTHORIZED
  }
  return (request, response) => {
    if (pages?.handle?.(request, response)) return
    request.resume()
    const path = request.url?.split('?', 1)[0] ?? ''
    void answerOf(request, path)
      .catch(failed)
      .then(([status, body, type = 'application/json', wait]) => {
        response.writeHead(status, {
          'Content-Type': type,
          'Cache-Control': 'no-store',
          ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
          ...(wait === undefined ? {} : { 'Retry-After': String(wait) }),
          ...(status === 405 ? { Allow: path.startsWith('/bans/') ? 'DELETE' : 'GET, HEAD' } : {}),
        })
        response.end(typeof body === 'string' ? body : `${JSON.stringify(body)}\n`)
      })
  }
}

/** Too many wrong tokens; all else is a fault of ours. */
function failed(error: unknown): Answer {
  const wait = error instanceof SallyportError ? error.details?.['retryAfter'] : undefined
  if (typeof wait !== 'number') return UNAVAILABLE
  return [429, { error: 'rate_limit_exceeded', message: ERRORS.rate_limit_exceeded.message }, undefined, wait]
}

/** A source with its age in seconds, and whether it is past it. */
function aged(source: SourceStatus) {
  const now = Date.now()
  const lastTrue = source.checked ?? source.date
  const age = lastTrue === undefined ? {} : { ageSeconds: Math.round((now - Date.parse(lastTrue)) / 1_000) }
  return { ...source, ...age, stale: isStale(source, now) }
}

/** Stale data and missing or silent workers are warnings: a balancer that takes the machine out loses the workers that serve. */
function readiness({ accepting, sources, requireFresh, certificates, workers }: Answering): Answer {
  if (!accepting()) return [503, { status: 'draining' }]
  if (certificates?.().length === 0) return [503, { status: 'no certificate' }]
  const now = Date.now()
  const stale = sources().filter((source) => source.state === 'loaded' && isStale(source, now))
  const status = stale.length === 0 || !requireFresh ? 'ready' : 'stale'
  const named = stale.length > 0 && { stale: stale.map(({ id }) => id) }
  const counts = workers?.()
  return [status === 'ready' ? 200 : 503, { status, ...named, ...(counts && { workers: counts }) }]
}

async function lift({ bans, onLifted }: Answering, id: string): Promise<Answer> {
  if (await bans?.lift(id)) {
    onLifted?.(id)
    return [200, { id, lifted: true }]
  }
  return [404, { error: 'unknown_ban', message: ERRORS.unknown_ban.message }]
}

const TEXT = 'text/plain; charset=utf-8'

const UNAUTHORIZED: Answer = [
  401,
  { error: 'unauthorized', message: 'A token of the console is required: Authorization: Bearer <TOKEN>.' },
]
const NOT_FOUND: Answer = [404, { error: 'not_found', message: ERRORS.not_found.message }]
const NOT_ALLOWED: Answer = [405, { error: 'method_not_allowed', message: ERRORS.method_not_allowed.message }]
const UNAVAILABLE: Answer = [503, { error: 'service_unavailable', message: ERRORS.service_unavailable.message }]
