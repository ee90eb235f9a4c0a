import type { IncomingMessage, ServerResponse } from 'node:http'
import { SallyportError } from '@sallyport/core'
import type { Sallyport } from '@sallyport/open'
import { createRate } from './access/rate.ts'
import { createSessions } from './access/sessions.ts'
import { sessionKey, type Tokens } from './access/tokens.ts'
import { COOKIE, isOwnPage, OWN_FIELD, type Visitor, visitorOf } from './access/visitor.ts'
import type { History } from './history/history.ts'
import { loadPage } from './http/page.ts'
import { readJson, sendError, sendJson } from './http/reply.ts'
import { consoleRows } from './routes/index.ts'
import type { Call, ConsoleHooks, ConsoleParts, Row } from './routes/route.ts'

const API = '/console/api/'
/** Tries of tokens by one client, and calls. */
const TRIES = { burst: 10, perMinute: 6 }
const CALLS = { burst: 240, perMinute: 600 }

export interface ConsoleOptions extends ConsoleHooks {
  readonly sallyport: Sallyport
  readonly history: History
  readonly tokens: Tokens
  /** The folder of the built page; absent: the one in this package. */
  readonly page?: string | undefined
  /** A bug: the page gets 500 without detail. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** The console of one process: a page, and the API that it asks. */
export interface Console {
  /** Answers a request of the admin listener; false, and nothing done, where the path is none of the console's. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Whether a request to the admin listener may steer: by a token of an administrator, or from this machine where no token is needed to read. */
  permits(request: IncomingMessage): boolean
}

/**
 * Opens the console. On this machine anybody may read unless a read token is set; all else needs a token, as a Bearer or
 * as a session. What changes something is a POST or DELETE by the console's own page or by a Bearer.
 */
export function openConsole({ sallyport, history, tokens, page, onFault, ...hooks }: ConsoleOptions): Console {
  const assets = loadPage(page)
  const sessions = createSessions(sessionKey(tokens))
  const [tries, calls] = [createRate(TRIES), createRate(CALLS)]
  const rows = consoleRows()
  const parts: ConsoleParts = { sallyport, history, hooks, since: Date.now() }

  /** Who asks; throws where the client has asked too often. */
  function admit(request: IncomingMessage, now: number): Visitor {
    const client = request.socket.remoteAddress ?? ''
    limit(calls.take(client, now))
    const shows = request.headers.authorization !== undefined
    if (shows && !tries.has(client, now)) limit(tries.take(client, now))
    const { isBadToken, ...visitor } = visitorOf(request, { tokens, sessions, now })
    if (isBadToken) {
      limit(tries.take(client, now))
      throw new SallyportError('unauthorized', 'This token is not known.')
    }
    return visitor
  }

  async function call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = Date.now()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://console')
    const path = pathname.slice(API.length)
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const found = matchOf(rows, path)
    const row = found?.rows.find((row) => row.method === method)
    if (path !== 'session' || method === 'GET') requireRow(found?.rows, row)
    const visitor = admit(request, now)
    if (visitor.by !== 'token') requireOwnPage(request, method)
    if (path === 'session' && method === 'POST') return signIn(visitor, now, response)
    if (path === 'session' && method === 'DELETE') return signOut(visitor, now, response)
    if (row === undefined || found === undefined) throw new SallyportError('method_not_allowed')
    requireRole(row, visitor)
    const answered = await row.answer(
      {
        ...{ visitor, now, request, response, query: searchParams, rest: found.rest },
        body: () => readJson(request),
        audit: (what, details) => sallyport.log.audit({ what, who: `console ${visitor.role}`, details }),
      } satisfies Call,
      parts,
    )
    if (answered !== undefined) sendJson(response, 200, answered)
  }

  /** A token, once shown, becomes a session of the browser. */
  function signIn(visitor: Visitor, now: number, response: ServerResponse): void {
    if (visitor.by !== 'token' || visitor.role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
    const { value, session } = sessions.open(visitor.role, now)
    const age = Math.floor((session.until - now) / 1_000)
    sallyport.log.audit({ what: 'console sign-in', who: `console ${visitor.role}`, details: {} })
    sendJson(response, 200, session, {
      'Set-Cookie': `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}`,
    })
  }

  function signOut({ session }: Visitor, now: number, response: ServerResponse): void {
    if (session !== undefined) sessions.end(session, now)
    sendJson(
      response,
      200,
      { ended: true },
      { 'Set-Cookie': `${COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0` },
    )
  }

  return {
    permits(request) {
      const now = Date.now()
      if (!isOwnPage(request) || !tries.has(request.socket.remoteAddress ?? '', now)) return false
      const { role, by, isBadToken } = visitorOf(request, { tokens, sessions, now })
      if (isBadToken) tries.take(request.socket.remoteAddress ?? '', now)
      return role === 'admin' || by === 'machine'
    },
    handle(request, response) {
      const path = request.url?.split('?', 1)[0] ?? ''
      if (path.startsWith(API)) {
        call(request, response).catch((error: unknown) => {
          if (!(error instanceof SallyportError)) onFault?.(error)
          const seconds = error instanceof SallyportError ? error.details?.['retryAfter'] : undefined
          sendError(response, error, typeof seconds === 'number' ? { 'Retry-After': String(seconds) } : {})
        })
        return true
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return false
      request.resume()
      return assets.answer(path, request, response)
    },
  }
}

const TOKEN_NEEDED = 'The console needs a token: Authorization: Bearer <TOKEN>.'

function requireRow(rows: readonly Row[] | undefined, row: Row | undefined): void {
  if (rows === undefined) throw new SallyportError('not_found')
  if (row === undefined) throw new SallyportError('method_not_allowed')
}

function requireRole({ role }: Row, visitor: Visitor): void {
  if (role === 'anyone' || visitor.role === 'admin' || visitor.role === role) return
  if (visitor.role === undefined) throw new SallyportError('unauthorized', TOKEN_NEEDED)
  throw new SallyportError('forbidden')
}

/** A page of another site can make a browser send requests, and what it has kept for this one goes with them. */
function requireOwnPage(request: IncomingMessage, method: string): void {
  if (isOwnPage(request) && (method === 'GET' || request.headers[OWN_FIELD] === '1')) return
  throw new SallyportError('forbidden', "This comes from a page that is not the console's own.")
}

function limit(seconds: number): void {
  if (seconds > 0) throw new SallyportError('rate_limit_exceeded', undefined, { retryAfter: seconds })
}

/** The rows of a path, and what its last segment is where they leave that open. */
function matchOf(
  rows: readonly Row[],
  path: string,
): { readonly rows: readonly Row[]; readonly rest: string } | undefined {
  const same = rows.filter((row) => row.path === path)
  if (same.length > 0) return { rows: same, rest: '' }
  const slash = path.lastIndexOf('/')
  const rest = path.slice(slash + 1)
  const open = rest === '' ? [] : rows.filter((row) => row.path === `${path.slice(0, slash)}/*`)
  if (open.length === 0) return undefined
  try {
    return { rows: open, rest: decodeURIComponent(rest) }
  } catch {
    return undefined
  }
}
