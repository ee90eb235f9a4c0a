import { createServer, type RequestListener } from 'node:http'
import { ERRORS, type SourceStatus } from '@sallyport/core'
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
  readonly onNotice: (message: string) => void
}

/**
 * The operator's listener: `GET /healthz` is liveness; `GET /readyz` is readiness, with the data in use and what was refused. A configured
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

function answer({
  sources,
  accepting,
  refusals,
}: Pick<AdminOptions, 'sources' | 'accepting' | 'refusals'>): RequestListener {
  const rows: Readonly<Record<string, () => readonly [status: number, body: object]>> = {
    '/healthz': () => [200, { status: 'ok' }],
    '/readyz': () => {
      const [status, text] = accepting() ? [200, 'ready'] : [503, 'draining']
      return [status as number, { status: text, sources: sources(), refusals }]
    },
  }
  return (request, response) => {
    request.resume()
    const row = rows[request.url?.split('?', 1)[0] ?? '']
    const reads = request.method === 'GET' || request.method === 'HEAD'
    const [status, body] = row === undefined ? NOT_FOUND : reads ? row() : NOT_ALLOWED
    response.writeHead(status, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
    })
    response.end(`${JSON.stringify(body)}\n`)
  }
}

const NOT_FOUND = [404, { error: 'not_found', message: ERRORS.not_found.message }] as const
const NOT_ALLOWED = [405, { error: 'method_not_allowed', message: ERRORS.method_not_allowed.message }] as const
