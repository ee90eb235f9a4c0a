import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { buildConnector, type Client, type Dispatcher, Pool } from 'undici'
import { Connection, RESET, type Releasable } from './connection.ts'
import { responseFields } from './response-fields.ts'
import type { Timeouts } from './timeouts.ts'

/** The client's error for a failure of the origin. */
export type OriginFailure = 'bad_gateway' | 'gateway_timeout'

/** A time-out is 504, any other failure 502. */
export function failureOf(error: Error): OriginFailure {
  return 'code' in error && TOO_LATE.has(String(error.code)) ? 'gateway_timeout' : 'bad_gateway'
}

/** The origin, as a pool of connections. */
export interface Origin {
  /**
   * Sends the request on with the given fields and streams the answer back. `onFailure` is called at most once, where
   * nothing of an answer was sent yet; a failure after that destroys the client's connection, because a cut answer
   * must not look whole. Never throws.
   */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    fields: readonly string[],
    onFailure: (error: Error) => void,
  ): void
  close(): Promise<void>
}

const TOO_LATE = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'])
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', RESET, 'ECONNRESET', 'EPIPE'])

/** Opens the pool; no connection is made before the first request. */
export function openOrigin(upstream: URL, timeouts: Timeouts): Origin {
  const connect = buildConnector({ timeout: timeouts.connect })
  const pool = new Pool(upstream.origin, {
    factory: (origin, options) =>
      // The certificate must be the origin's own, whatever Host the client asked for.
      new Connection(origin, options as Client.Options, (to, done) =>
        connect({ ...to, servername: upstream.hostname }, done),
      ),
    connections: 128,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 4_000,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
  })

  return {
    forward(request, response, fields, onFailure) {
      const method = request.method ?? 'GET'
      const body = bodyOf(request)
      const options: Releasable = {
        method,
        path: request.url ?? '/',
        headers: [...fields],
        body,
        release: () => exchange.release(),
      }
      // The origin may close an idle connection just as it is used: a safe request without a body is retried once.
      let mayRetry = body === null && (method === 'GET' || method === 'HEAD')
      const exchange = answerTo(response, request, timeouts.unread, (error) => {
        if (!mayRetry || !('code' in error) || !LOST_CONNECTION.has(String(error.code))) return onFailure(error)
        mayRetry = false
        pool.dispatch(options, exchange)
      })
      pool.dispatch(options, exchange)
    },
    close: () => pool.destroy(),
  }
}

/**
 * The body to send on, or null. A stream of its own, because undici destroys a body it cannot send, and a destroyed
 * `IncomingMessage` takes the client's connection with it.
 */
function bodyOf(request: IncomingMessage): PassThrough | null {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (coding === undefined && (length === undefined || Number(length) === 0)) return null
  const body = new PassThrough()
  body.on('error', () => {})
  return request.pipe(body)
}

/** A dispatch handler that streams the origin's answer into the client's response. */
function answerTo(
  response: ServerResponse,
  request: IncomingMessage,
  unreadTimeout: number,
  onFailure: (error: Error) => void,
): Dispatcher.DispatchHandler & Pick<Releasable, 'release'> {
  let controller: Dispatcher.DispatchController | undefined
  let unread: NodeJS.Timeout | undefined
  /** The connection has ended: the rest is read without pauses. */
  let released = false

  response.once('close', () => {
    clearTimeout(unread)
    if (!response.writableFinished) controller?.abort(new Error('the client left'))
  })

  return {
    release() {
      released = true
      if (controller?.paused) controller.resume()
    },
    onRequestStart(started) {
      controller = started
      if (response.closed) started.abort(new Error('the client left'))
    },
    onResponseStart(_, status, __, reason = '') {
      if (status < 200) return
      if (status > 599 || /[^\t -\uffff]/.test(reason)) throw new Error(`the origin's status line is bad: ${status}`)
      const fields = responseFields(controller?.rawHeaders as readonly Buffer[])
      // The rest of an unfinished request would be read as the next one.
      if (!request.complete) fields.push('Connection', 'close')
      response.writeHead(status, fields)
      if (status === 204 || status === 304) response.end()
      // The head is sent with the first piece of the body where that has arrived, else alone.
      else process.nextTick(() => response.writableEnded || response.flushHeaders())
    },
    onResponseData(started, chunk) {
      if (response.writableEnded || response.write(chunk) || released) return
      started.pause()
      unread = setTimeout(() => response.destroy(), unreadTimeout)
      response.once('drain', () => {
        clearTimeout(unread)
        started.resume()
      })
    },
    onResponseEnd() {
      response.end()
    },
    onResponseError(_, error) {
      if (response.closed || response.writableEnded) return
      if (response.headersSent) response.destroy()
      else onFailure(error)
    },
  }
}
