import type { Socket } from 'node:net'

/** The part of undici's parser that hears of each head, and the one that it is written around; neither is documented. */
interface HeadParser {
  readonly ptr: number
  readonly llhttp: { llhttp_set_lenient_keep_alive(parser: number, isLenient: number): void }
  /** The status of the answer whose head is whole; else 0. */
  readonly statusCode: number
  /** As much of Content-Length as is read. */
  contentLength: string
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
  createError(code: number, data: Buffer): Error
}

/**
 * Has undici read `100 Continue` as `102 Processing`, which it passes over: to a 100, which servers may send unasked and
 * clients must pass over (RFC 9110 15.2), it ends the connection. What an interim answer says of the connection is
 * passed over too: the final one follows it. A head that cannot be read has its own reason. Called once undici has the socket.
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
    // Before the body begins it matches no length: the fault is the parser's, as of a length that is sent twice.
    if (parser.statusCode === 0) parser.contentLength = ''
    return createError.call(parser, code, data)
  }
}

function isHeadParser(parser: unknown): parser is HeadParser {
  return typeof parser === 'object' && parser !== null && 'onHeadersComplete' in parser && 'createError' in parser
}
