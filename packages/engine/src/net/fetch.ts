import type { Fetch, FetchAnswer, FetchRequest } from '@sallyport/core'
import { errorCode, parseUrl } from '@sallyport/core'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { ACCEPTED_CODINGS, MAX_EARLY_BYTES, openBody } from './body.ts'
import { type Deadline, openDeadline } from './deadline.ts'
import { dial } from './dial.ts'
import { createGuard, type Guard, type GuardOptions, UnresolvedName } from './guard.ts'
import { tunnel } from './tunnel.ts'

export interface FetchOptions extends GuardOptions {
  /** Certificate authorities instead of those that Node knows, PEM. */
  readonly ca?: string | undefined
  /**
   * The proxy through which a URL of https is asked, as the operator says; absent, or where it gives nothing: none. Only
   * for URLs that an operator or our own tables name, because a proxy is inside and resolves names itself.
   */
  readonly findProxy?: ((url: URL) => URL | undefined) | undefined
}

const MAX_HEADER_BYTES = 16 * 1024
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Fields for one origin alone: a redirect to another origin drops them. */
const SECRETS = new Set(['authorization', 'cookie', 'proxy-authorization'])

/**
 * HTTP/1.1 over TLS to public addresses. The guard sits where connections are made, so a literal address in any
 * spelling, a name that resolves to the inside, and every redirect pass through it. A connection serves one request:
 * a pool would reuse a connection that another caller was permitted to open. No cookies, no proxies of the
 * environment, unless `findProxy` names one; there the proxy resolves what our DNS does not know. Throws `invalid_config` for an
 * `allowPrivate` that is not usable.
 */
export function createFetch({ ca, findProxy = () => undefined, ...options }: FetchOptions): Fetch {
  const guard = createGuard(options)
  let library: Promise<Library> | undefined
  return {
    async fetch(request) {
      const deadline = openDeadline(request.timeoutMs, request.signal)
      try {
        library ??= loadLibrary(ca)
        return await follow(request, { ...(await library), guard, findProxy, deadline })
      } catch (error) {
        deadline.clear()
        // An error after the deadline has the deadline as its reason.
        return { state: 'failed', reason: errorCode(deadline.signal.aborted ? deadline.signal.reason : error) }
      }
    },
  }
}

/** The parts of undici that a request needs: it is a megabyte of code, and most applications make no request at first. */
interface Library {
  readonly Client: typeof Client
  readonly secure: buildConnector.connector
}

async function loadLibrary(ca: string | undefined): Promise<Library> {
  const { buildConnector, Client } = await import('undici')
  return { Client, secure: buildConnector({ timeout: 0, ...(ca === undefined ? {} : { ca }) }) }
}

interface Route extends Library {
  readonly guard: Guard
  readonly findProxy: (url: URL) => URL | undefined
  readonly deadline: Deadline
}

async function follow(request: FetchRequest, route: Route): Promise<FetchAnswer> {
  let url = readUrl(request.url)
  let headers = buildHeaders(request)
  const { body } = request
  for (let left = body === undefined ? (request.redirects ?? 0) : 0; ; left--) {
    const client = new route.Client(url.origin, {
      connect: createConnector(url, request.allowHttp === true, route),
      // Only the deadline ends a request.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    const close = () => void client.destroy().catch(() => undefined)
    let next: URL | undefined
    try {
      const { signal } = route.deadline
      const answer = await client.request({
        method: request.method ?? (body === undefined ? 'GET' : 'POST'),
        body: body === undefined ? null : 'text' in body ? body.text : body.bytes,
        path: url.pathname + url.search,
        headers,
        signal,
        reset: true,
        highWaterMark: MAX_EARLY_BYTES,
      })
      answer.body.on('error', () => undefined)
      next = left > 0 ? findRedirect(answer, url) : undefined
      if (next === undefined) return answered(answer, request.maxBytes, route.deadline, close)
      answer.body.destroy()
    } catch (error) {
      close()
      throw error
    }
    close()
    if (next.origin !== url.origin) headers = withoutSecrets(headers)
    url = next
  }
}

function createConnector(url: URL, allowHttp: boolean, route: Route): buildConnector.connector {
  const { guard, secure, findProxy, deadline } = route
  const open = async () => {
    const proxy = url.protocol === 'https:' ? findProxy(url) : undefined
    const checking = deadline.race(guard(url.hostname.replace(/^\[(.*)\]$/, '$1')))
    if (proxy !== undefined) {
      await checking.catch(unlessUnresolved)
      return tunnel(proxy, `${url.hostname}:${url.port || 443}`, deadline.signal)
    }
    const checked = await checking
    if (url.protocol === 'https:') return dial(checked, Number(url.port || 443), deadline.signal)
    if (!allowHttp && !checked.allowed) throw new Error(`${checked.host}: plain http is not permitted`)
    return dial(checked, Number(url.port || 80), deadline.signal)
  }
  return (options, done) => {
    const connected: buildConnector.Callback = (...result) => {
      // undici takes ECONNRESET for the end of a body without a length; under another code it is a failure.
      result[1]?.on('error', (error) => {
        if ('code' in error && error.code === 'ECONNRESET') error.code = 'CONNECTION_RESET'
      })
      done(...result)
    }
    open().then(
      (socket) =>
        url.protocol === 'https:' ? secure({ ...options, httpSocket: socket }, connected) : connected(null, socket),
      (error: Error) => connected(error, null),
    )
  }
}

/** Behind a proxy our DNS often knows no name outside; what it knows to be inside stays refused. */
function unlessUnresolved(error: unknown): void {
  if (!(error instanceof UnresolvedName)) throw error
}

function answered(
  { statusCode: status, headers: received, body: raw }: Dispatcher.ResponseData,
  maxBytes: number,
  deadline: Deadline,
  close: () => void,
): FetchAnswer {
  const headers = joined(received)
  if (Number(headers['content-length']) > maxBytes) throw new Error(`the body is larger than ${maxBytes} bytes`)
  // A 204 or 304 may name the coding of a body that it does not have.
  const coding = status === 204 || status === 304 ? '' : (headers['content-encoding'] ?? '')
  const onEnd = () => {
    deadline.clear()
    close()
  }
  return { state: 'answered', status, headers, body: openBody(raw, { coding, maxBytes, onEnd }) }
}

function readUrl(text: string, base?: string): URL {
  const url = parseUrl(text, base)
  if (url === undefined) throw new Error(`"${text}" is not a URL`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`${url.protocol} is not http or https`)
  if (url.username !== '' || url.password !== '') throw new Error('the URL contains a user name or password')
  return url
}

function findRedirect({ statusCode, headers }: Dispatcher.ResponseData, from: URL): URL | undefined {
  const { location } = headers
  if (!REDIRECTS.has(statusCode) || typeof location !== 'string') return undefined
  return readUrl(location, from.href)
}

function joined(headers: Dispatcher.ResponseData['headers']): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

type Headers = Readonly<Record<string, string>>

function buildHeaders({ headers = {}, body }: FetchRequest): Headers {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const own: Record<string, string> = { 'user-agent': 'sallyport', 'accept-encoding': ACCEPTED_CODINGS }
  if (body !== undefined) own['content-type'] = body.type
  return { ...own, ...Object.fromEntries(given) }
}

function withoutSecrets(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRETS.has(name)))
}
