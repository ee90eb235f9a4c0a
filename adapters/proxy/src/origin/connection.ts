import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import type { Exchange } from '../exchange/exchange.ts'

/** Error code of a connection that the origin reset. */
export const RESET = 'SALLYPORT_RESET'

/** A request for the origin, which has the connection to itself. */
export interface OriginRequest extends Dispatcher.DispatchHandler {
  /** Called when the connection has ended: the received rest of an answer comes without pauses. */
  release(): void
}

/**
 * Wraps a request so that its handlers throw nothing at undici, which would take an error for a failure of the origin, or let it end the
 * process: an error ends the exchange.
 */
export function guarded(request: OriginRequest, exchange: Exchange): OriginRequest {
  return {
    release: () => exchange.guard(() => request.release()),
    onRequestStart: (controller, context) => exchange.guard(() => request.onRequestStart?.(controller, context)),
    onResponseStart: (controller, ...head) => exchange.guard(() => request.onResponseStart?.(controller, ...head)),
    onResponseData: (controller, chunk) => exchange.guard(() => request.onResponseData?.(controller, chunk)),
    onResponseEnd: (controller, trailers) => exchange.guard(() => request.onResponseEnd?.(controller, trailers)),
    onResponseError: (controller, error) => exchange.guard(() => request.onResponseError?.(controller, error)),
  }
}

/**
 * Holds one connection to the origin at a time, with one request at a time. undici's HTTP/1 parser crashes the process where a connection
 * ends while it is paused (nodejs/undici issue 5360, not fixed in any release for Node 20), as it is whenever a client reads slower than
 * its origin sends. So a paused answer is released before undici sees the end, and its rest, which was received already, waits in memory. A
 * reset gets another error code, because undici takes ECONNRESET for the end of an answer.
 */
export class OriginConnection extends Client {
  /** Counts the answers that came over the present connection. */
  answered = 0
  /** When the first answer had come, in milliseconds of `performance.now()`. */
  answeredSince = 0
  /** When the connection became idle, in milliseconds of `performance.now()`. */
  idleSince = 0
  /** Whether a client has authenticated the present connection, or the origin requires that: no other client may have it. */
  isAuthenticated = false
  /** Called when the client connection that owns this connection ends. */
  onOwnerClosed = (): void => {}
  #request: OriginRequest | undefined

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector, onEnded: () => void) {
    super(origin, {
      ...options,
      connect: (to, done) =>
        connect(to, (...result) => {
          const [, socket] = result
          // These listeners run before undici's own, which undici adds once it has the socket.
          socket?.on('end', () => this.#request?.release())
          socket?.on('error', (error) => {
            if ('code' in error && error.code === 'ECONNRESET') error.code = RESET
          })
          done(...result)
        }),
    })
    this.on('disconnect', () => {
      onEnded()
      this.answered = 0
      this.isAuthenticated = false
    })
  }

  send(options: Dispatcher.DispatchOptions, request: OriginRequest): void {
    this.#request = request
    this.dispatch(options, request)
  }

  /** Records that the request has its answer, or has failed. */
  done(): void {
    this.#request = undefined
    this.idleSince = performance.now()
    if (this.answered++ === 0) this.answeredSince = this.idleSince
  }
}

/** Members of undici's parser that handle each head, with the inner parser; they are not documented. */
interface HeadParser {
  readonly ptr: number
  readonly llhttp: { llhttp_set_lenient_keep_alive(parser: number, isLenient: number): void }
  /** The status of the answer when its head is complete; else 0. */
  readonly statusCode: number
  /** The part of Content-Length that has been read. */
  contentLength: string
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
  createError(code: number, data: Buffer): Error
}

/**
 * Makes undici read `100 Continue` as `102 Processing`, which it ignores: at a 100, which servers may send unrequested and clients must
 * ignore (RFC 9110 15.2), it ends the connection. What an interim answer says about the connection is ignored too, because the final answer
 * follows. A head that cannot be read has its own reason. Call it once undici has the socket.
 */
export function passOverContinue(socket: Socket): void {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser: unknown = key && Reflect.get(socket, key)
  if (!isHeadParser(parser)) return
  const { onHeadersComplete, createError, llhttp, ptr } = parser
  let isLenient = false
  parser.onHeadersComplete = (status, upgrade, keepAlive) => {
    const isInterim = status < 200 && status !== 101
    // Bytes after a head that ends the connection are a fault, unless that head is an interim one.
    if (isLenient !== (isInterim && !keepAlive)) {
      isLenient = !isLenient
      llhttp.llhttp_set_lenient_keep_alive(ptr, isLenient ? 1 : 0)
    }
    return onHeadersComplete.call(parser, status === 100 ? 102 : status, upgrade, keepAlive || isInterim)
  }
  parser.createError = (code, data) => {
    // Before the body begins no length matches: the fault is the parser's, as for a length that is sent twice.
    if (parser.statusCode === 0) parser.contentLength = ''
    return createError.call(parser, code, data)
  }
}

function isHeadParser(parser: unknown): parser is HeadParser {
  return typeof parser === 'object' && parser !== null && 'onHeadersComplete' in parser && 'createError' in parser
}
