import type { Socket } from 'node:net'

/** The part of undici's parser that hears of each head; it is not documented. */
interface HeadParser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number
}

/**
 * Has undici read `100 Continue` as `102 Processing`, which it passes over: to a 100, which servers may send unasked and
 * clients must pass over (RFC 9110 15.2), it ends the connection (D365). Called once undici has the socket.
 */
export function passOverContinue(socket: Socket): void {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser')
  const parser: unknown = key && Reflect.get(socket, key)
  if (!isHeadParser(parser)) return
  const { onHeadersComplete } = parser
  parser.onHeadersComplete = (status, ...rest) => onHeadersComplete.call(parser, status === 100 ? 102 : status, ...rest)
}

function isHeadParser(parser: unknown): parser is HeadParser {
  return typeof parser === 'object' && parser !== null && 'onHeadersComplete' in parser
}
