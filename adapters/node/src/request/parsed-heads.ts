import type { IncomingMessage } from 'node:http'

/** A request as Node's parser hands it over, with its head alone. */
export type ParsedRequest = IncomingMessage & { upgrade?: boolean | null | undefined }

/** The outcome of a head for the parser; `STOPPED` ends the parsing of what was read, as at an upgrade. */
type Parsing = 0 | 1 | typeof STOPPED
export const STOPPED = 2

/** The function that Node's parser of a connection calls for each head. */
type OnIncoming = (request: ParsedRequest, keepAlive: boolean) => Parsing

/** A connection whose bytes Node parses. */
export interface ParsedConnection {
  readonly destroyed: boolean
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  readonly parser?: { onIncoming?: OnIncoming | undefined } | null | undefined
}

/**
 * Calls `hear` for each head of a connection before Node's server does, which `go` has it do. The parser is not documented;
 * where it has changed, nothing is heard.
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
