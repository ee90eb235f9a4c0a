import { createServer, type RequestListener } from 'node:http'
import { type BanList, ERRORS, type SourceStatus } from '@sallyport/core'
import { type Listening, listenOn } from './listen.ts'

export const DEFAULT_ADMIN = '127.0.0.1:9090'

export interface AdminOptions {
  /** `host:port`; absent: 127.0.0.1:9090, and no admin listener where that is taken. */
  readonly address?: string
  readonly sources: () => readonly SourceStatus[]
  /** False once the proxy no longer takes requests. */
  readonly accepting: () => boolean
  /** Refusals so far, by cause. */
  readonly refusals: Readonly<Record<string, number>>
  /** Absent: nobody is ever banned. */
  readonly bans?: BanList | undefined
  readonly onNotice: (message: string) => void
}

/**
 * The operator's listener: `GET /healthz` is liveness; `GET /readyz` is readiness, with the data in use and what was refused;
 * `GET /bans` lists the bans in force, and `DELETE /bans/ID` lifts one. A configured
 * address that is taken rejects with `cannot_listen`; without the default one the proxy runs on, after a notice.
 */
export async function openAdmin({ address, onNotice, ...told }: AdminOptions): Promise<Listening | undefined> {
  const server = createServer(answer(told))
  try {
    return await listenOn(server, address ?? DEFAULT_ADMIN)
  } catch (error) {
    if (address !== undefined || !(error instanceof Error)) throw error
    onNotice(`no health listener: ${error.message}`)
    return undefined
  }
}

type Answer = readonly [status: number, body: object]

function answer({
  sources,
  accepting,
  refusals,
  bans,
}: Pick<AdminOptions, 'sources' | 'accepting' | 'refusals' | 'bans'>): RequestListener {
  const rows: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
    '/healthz': () => [200, { status: 'ok' }],
    '/readyz': () => {
      const [status, text] = accepting() ? [200, 'ready'] : [503, 'draining']
      return [status as number, { status: text, sources: sources(), refusals }]
    },
    '/bans': async () => [200, { bans: (await bans?.list()) ?? [] }],
  }
  const answerOf = async (method: string, path: string): Promise<Answer> => {
    const id = /^\/bans\/([\w-]{1,64})$/.exec(path)?.[1]
    if (id !== undefined) return method === 'DELETE' ? lift(bans, id) : NOT_ALLOWED
    const row = rows[path]
    if (row === undefined) return NOT_FOUND
    return method === 'GET' || method === 'HEAD' ? row() : NOT_ALLOWED
  }
  return (request, response) => {
    request.resume()
    const path = request.url?.split('?', 1)[0] ?? ''
    void answerOf(request.method ?? '', path)
      .catch((): Answer => UNAVAILABLE)
      .then(([status, body]) => {
        response.writeHead(status, {
          'Content-Type': 'application/json',
          'Cache-Control': 'no-store',
          ...(status === 405 ? { Allow: path.startsWith('/bans/') ? 'DELETE' : 'GET, HEAD' } : {}),
        })
        response.end(`${JSON.stringify(body)}\n`)
      })
  }
}

async function lift(bans: BanList | undefined, id: string): Promise<Answer> {
  if (await bans?.lift(id)) return [200, { id, lifted: true }]
  return [404, { error: 'unknown_ban', message: ERRORS.unknown_ban.message }]
}

const NOT_FOUND: Answer = [404, { error: 'not_found', message: ERRORS.not_found.message }]
const NOT_ALLOWED: Answer = [405, { error: 'method_not_allowed', message: ERRORS.method_not_allowed.message }]
const UNAVAILABLE: Answer = [503, { error: 'service_unavailable', message: ERRORS.service_unavailable.message }]
