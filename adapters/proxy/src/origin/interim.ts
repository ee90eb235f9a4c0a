import type { Socket } from 'node:net'

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
