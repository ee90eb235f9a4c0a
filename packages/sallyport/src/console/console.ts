import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SallyportError } from '@sallyport/core'
import { openPolicyReader, type Sallyport } from '@sallyport/engine'
import { type Door, requireRole } from './access/door.ts'
import { shownIn, type Visitor } from './access/visitor.ts'
import type { History } from './history/history.ts'
import { createTrail } from './history/trail.ts'
import { loadPage } from './http/page.ts'
import { readJson, sendError, sendJson } from './http/reply.ts'
import { consoleRows } from './routes/index.ts'
import type { AnyRow, AnyShare, ConsoleHooks, ConsoleParts } from './routes/route.ts'
import { parseTexts } from './routes/values.ts'
import { createGather, type Share } from './shares/share.ts'

const API = '/console/api/'

interface ConsoleOptions extends ConsoleHooks {
  readonly sallyport: Sallyport
  readonly history: History
  readonly door: Door
  /** The folder of the built page; absent: the folder in this package. */
  readonly page?: string | undefined
  /** Called for a bug; the page gets 500 without details. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

export type Console = ReturnType<typeof openConsole>

/**
 * Opens the console of one process: a page, and its API. Every call needs a token, as a Bearer, or a session that a token or a link opened.
 * Changes need a POST or DELETE by the console's own page or by a Bearer.
 */
export function openConsole({ sallyport, history, door, page, onFault, ...hooks }: ConsoleOptions) {
  const answerFile = loadPage(page)
  const rows: readonly AnyRow[] = consoleRows()
  const policies = openPolicyReader({ lists: () => sallyport.config })
  const own = { sallyport, history, policies, trail: createTrail(sallyport), since: Date.now(), id: randomUUID() }
  const parts: ConsoleParts = { ...own, hooks, gather: createGather(own, hooks.askOthers) }
  const ended = shareEnded(door)
  const shares = new Map([ended, ...rows.flatMap(({ shares = [] }) => shares)].map((one) => [one.name, one]))

  async function answerSession(request: IncomingMessage, response: ServerResponse, now: number): Promise<void> {
    const isComing = request.method === 'POST'
    const { visitor, body, setCookie } = isComing ? door.signIn(request, now) : door.signOut(request, now)
    const value = isComing ? shownIn(request, 'Link') : visitor.session
    if (value !== undefined) await parts.gather(ended, { value })
    own.trail.audit({ what: `console sign-${isComing ? 'in' : 'out'}`, who: nameVisitor(visitor), details: {} })
    sendJson(response, 200, body, { 'Set-Cookie': setCookie })
  }

  async function call(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const now = Date.now()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://console')
    const path = pathname.slice(API.length)
    const { method } = request
    const isSession = path === 'session' && (method === 'POST' || method === 'DELETE')
    const found = findRows(rows, path)
    const row = found?.rows.find((row) => row.method === method)
    if (found === undefined) throw new SallyportError('not_found')
    if (row === undefined && !isSession) throw new SallyportError('method_not_allowed')
    if (row === undefined) return answerSession(request, response, now)
    const visitor = door.admit(request, now)
    requireRole(row.role, visitor)
    const given = method === 'GET' ? readQuery(searchParams) : parseTexts(await readJson(request))
    const answered = await row.answer(
      {
        visitor,
        now,
        request,
        response,
        asked: Object.fromEntries(Object.entries(given).filter(([name]) => row.takes?.includes(name))),
        rest: found.rest,
        isAdmitted: () => door.permits(request, 'read'),
        audit: (what, details) => own.trail.audit({ what, who: nameVisitor(visitor), details }),
      },
      parts,
    )
    if (answered !== undefined) sendJson(response, 200, answered)
  }

  function fail(response: ServerResponse, error: unknown): void {
    if (!(error instanceof SallyportError)) onFault?.(error)
    sendError(response, error)
  }

  return {
    /** Answers a question from another process's console, sent by `askOthers`. */
    answerOther: async (about: unknown): Promise<unknown> => {
      const { name, question } = about as { readonly name: string; readonly question: unknown }
      // Ended requests belong to the answer, including those that wait to be counted.
      own.sallyport.drain()
      return (shares.get(name) as AnyShare | undefined)?.own(question, own)
    },
    /** Reports whether a request to other paths of the admin listener has a role. */
    permits: door.permits,
    /** Ends the thread that reads policies. */
    close: policies.close,
    /** Answers a request of the admin listener; returns false, and does nothing, for a path outside the console. */
    handle(request: IncomingMessage, response: ServerResponse): boolean {
      const path = request.url?.split('?', 1)[0] ?? ''
      if (path.startsWith(API)) {
        call(request, response).catch((error: unknown) => fail(response, error))
        return true
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') return false
      if (!answerFile(path, request, response)) return false
      request.resume()
      return true
    },
  }
}

/** Makes every process end a session or a link. */
function shareEnded({ forget }: Door): Share<{ readonly value: string }, boolean> {
  return {
    name: 'ended',
    own({ value }) {
      forget(value, Date.now())
      return true
    },
  }
}

function nameVisitor({ role }: Visitor): string {
  return `console ${role ?? 'nobody'}`
}

function readQuery(query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].map(([name, value]) => [name, value.trim()]))
}

/** Finds the rows of a path, and its last segment where the rows leave it open. */
function findRows(rows: readonly AnyRow[], path: string) {
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
