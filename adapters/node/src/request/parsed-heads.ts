import type { IncomingMessage } from 'node:http'

/** A request as Node's parser delivers it, with its head alone. */
export type ParsedRequest = IncomingMessage & { upgrade?: boolean | null | undefined }

/** Tells the parser what to do after a head; `STOPPED` ends the parsing of the received bytes, as at an upgrade. */
type Parsing = 0 | 1 | typeof STOPPED
export const STOPPED = 2

/** Takes each head from Node's parser of a connection. */
type OnIncoming = (request: ParsedRequest, keepAlive: boolean) => Parsing

/** A connection whose bytes Node parses. */
export interface ParsedConnection {
  readonly destroyed: boolean
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  readonly parser?: { onIncoming?: OnIncoming | undefined } | null | undefined
}

/**
 * Calls `hear` for each head of a connection before Node's server, which `go` then calls. Node does not document the parser; where it has
 * changed, `hear` is never called.
 */
export function hearHeads(
  connection: ParsedConnection,
  hear: (request: ParsedRequest, go: () => Parsing) => Parsing,
): void {
  const { parser } = connection
  const inner = parser?.onIncoming
  if (!parser || inner === undefined) return
  parser.onIncoming = (request, keepAlive) => hear(request, () => inner(request, keepAlive))
}
