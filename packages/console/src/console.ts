import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SallyportError } from '@sallyport/core'
import type { Sallyport } from '@sallyport/open'
import { createDoor, requireRole } from './access/door.ts'
import type { Tokens } from './access/tokens.ts'
import type { Visitor } from './access/visitor.ts'
import type { History } from './history/history.ts'
import { loadPage } from './http/page.ts'
import { readJson, sendError, sendJson } from './http/reply.ts'
import { consoleRows } from './routes/index.ts'
import type { AnyShare, Call, ConsoleHooks, ConsoleParts, Row } from './routes/route.ts'
import { createGather, type Share } from './shares/share.ts'

const API = '/console/api/'

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
  /**
   * Whether a request to the admin listener may steer: by a token of an administrator, or from this machine where no
   * token is needed to read.
   */
  permits(request: IncomingMessage): boolean
  /** What this process answers the console of another one, which was asked through `askOthers`. */
  answerOther(about: unknown): Promise<unknown>
}

/**
 * Opens the console. On this machine anybody may read unless a read token is set; all else needs a token, as a Bearer or
 * as a session. What changes something is a POST or DELETE by the console's own page or by a Bearer.
 */
export function openConsole({ sallyport, history, tokens, page, onFault, ...hooks }: ConsoleOptions): Console {
  const assets = loadPage(page)
  const door = createDoor(tokens)
  const rows = consoleRows()
  const own = { sallyport, history, since: Date.now(), id: randomUUID() }
  const parts: ConsoleParts = { ...own, hooks, gather: createGather(own, hooks.askOthers) }
  const signedOut: Share<{ readonly session: string }, boolean> = {
    name: 'signed out',
    own({ session }) {
      door.forget(session, Date.now())
      return true
    },
  }
  const shares = new Map([signedOut, ...rows.flatMap(({ shares = [] }) => shares)].map((one) => [one.name, one]))

  async function answerSession(visitor: Visitor, now: number, method: string, response: ServerResponse): Promise<void> {
    const { body, setCookie } = method === 'POST' ? door.signIn(visitor, now) : door.signOut(visitor, now)
    if (method === 'DELETE' && visitor.session !== undefined) {
      await parts.gather(signedOut, { session: visitor.session })
    }
    sallyport.log.audit({ what: `console sign-${method === 'POST' ? 'in' : 'out'}`, who: whoOf(visitor), details: {} })
    sendJson(response, 200, body, { 'Set-Cookie': setCookie })
  }

  async function call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = Date.now()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://console')
    const path = pathname.slice(API.length)
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const isSession = path === 'session' && (method === 'POST' || method === 'DELETE')
    const found = matchOf(rows, path)
    const row = found?.rows.find((row) => row.method === method)
    if (found === undefined) throw new SallyportError('not_found')
    if (row === undefined && !isSession) throw new SallyportError('method_not_allowed')
    const visitor = door.admit(request, now)
    if (row === undefined) {
      await answerSession(visitor, now, method, response)
      return
    }
    requireRole(row.role, visitor)
    const answered = await row.answer(
      {
        ...{ visitor, now, request, response, query: searchParams, rest: found.rest },
        body: () => readJson(request),
        audit: (what, details) => sallyport.log.audit({ what, who: whoOf(visitor), details }),
      } satisfies Call,
      parts,
    )
    if (answered !== undefined) sendJson(response, 200, answered)
  }

  function fail(response: ServerResponse, error: unknown): void {
    const isKnown = error instanceof SallyportError
    if (!isKnown) onFault?.(error)
    const seconds = isKnown ? error.details?.['retryAfter'] : undefined
    sendError(response, error, typeof seconds === 'number' ? { 'Retry-After': String(seconds) } : {})
  }

  return {
    answerOther: async (about) => {
      const { name, question } = about as { readonly name: string; readonly question: unknown }
      return (shares.get(name) as AnyShare | undefined)?.own(question, own)
    },
    permits: (request) => door.permits(request, Date.now()),
    handle(request, response) {
      const path = request.url?.split('?', 1)[0] ?? ''
      if (path.startsWith(API)) {
        call(request, response).catch((error: unknown) => fail(response, error))
        return true
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return false
      if (!assets.answer(path, request, response)) return false
      request.resume()
      return true
    },
  }
}

function whoOf({ role }: Visitor): string {
  return `console ${role ?? 'nobody'}`
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
