import type { IncomingMessage } from 'node:http'
import { asksForWebSocket } from './head-fault.ts'

/** A request as Node's parser delivers it, with its head alone. */
type ParsedRequest = IncomingMessage & { upgrade?: boolean | null | undefined }

/** Tells the parser what to do after a head; `STOPPED` ends the parsing of the received bytes, as at an upgrade. */
type Parsing = 0 | 1 | typeof STOPPED
const STOPPED = 2

/** Takes each head from Node's parser of a connection. */
type OnIncoming = (request: ParsedRequest, keepAlive: boolean) => Parsing

/** A connection whose bytes Node parses. */
interface ParsedConnection {
  readonly destroyed: boolean
  readonly writableEnded: boolean
  once(event: 'close', listener: () => void): unknown
  readonly parser?: { onIncoming?: OnIncoming | undefined } | null | undefined
}

/**
 * Calls `hear` for each head of a connection before Node's server, which `go` then calls. Node does not document the parser; where it has
 * changed, `hear` is never called.
 */
function hearHeads(connection: ParsedConnection, hear: (request: ParsedRequest, go: () => Parsing) => Parsing): void {
  const { parser } = connection
  const inner = parser?.onIncoming
  if (!parser || inner === undefined) return
  parser.onIncoming = (request, keepAlive) => hear(request, () => inner(request, keepAlive))
}

/** Keys the request whose answer ends a connection. Every copy of this package in a process knows the symbol. */
const LAST: unique symbol = Symbol.for('sallyport.last-request') as never

interface Connection extends ParsedConnection {
  [LAST]?: object | undefined
}

/**
 * Stops Node's parser at heads that come while `isOver`. Node parses all requests in one read of 64 KB, and the server runs them even after
 * an answer that ends the connection (RFC 9112 9.6).
 */
function stopParsing(connection: Connection, isOver: () => boolean): void {
  hearHeads(connection, (request, go) => {
    if (!isOver()) return go()
    // Otherwise Node tells the server of an upgrade.
    request.upgrade = false
    return STOPPED
  })
}

/** Stops the parser of a connection once the connection is destroyed or its sending side is closed. */
export function stopParsingWhenEnded(connection: Connection): void {
  stopParsing(connection, () => connection.destroyed || connection.writableEnded)
}

/** Makes a request the last of its connection: later requests are not parsed, or not inspected where they were parsed already. */
export function markLast(req: Pick<IncomingMessage, 'socket'>): void {
  const connection = req.socket as IncomingMessage['socket'] & Connection
  if (connection[LAST] !== undefined) return
  connection[LAST] = req
  stopParsing(connection, () => true)
}

/** Reports whether a request came after the last request of its connection: the client can receive no answer. */
export function isBehindLast(req: IncomingMessage): boolean {
  // HTTP/2 hides the socket of a stream that is already gone.
  const last = (req.socket as Connection | undefined)?.[LAST]
  return last !== undefined && last !== req
}

/**
 * Makes Node treat a request for another protocol as an ordinary request. Otherwise Node passes the socket to `upgrade` listeners, with a
 * body that no code reads. Requests pipelined after such a request are read too; their upgrades are all ignored, because Node no longer has
 * the bytes that it would hand over.
 */
export function ignoreOtherUpgrades(connection: ParsedConnection): void {
  let ignored: ParsedRequest | undefined
  const isBehind = readBehind(connection, () => ignored?.complete === true)
  hearHeads(connection, (request, go) => {
    const ignores = request.upgrade === true && (isBehind() || asksForAnother(request))
    if (ignores) request.upgrade = false
    const parsing = go()
    ignored = ignores && parsing !== STOPPED ? request : undefined
    return parsing
  })
}

function asksForAnother({ method, httpVersion, headers }: ParsedRequest): boolean {
  return method !== 'CONNECT' && !asksForWebSocket(httpVersion, headers)
}

/** Node's `HTTPParser.kOnExecute`, called with the number of parsed bytes that the parser took from the socket itself. */
const EXECUTED = 5

/** Counts the parsed bytes, or says why parsing failed. */
type Read = number | Error

/** The part of Node's parser that is used here. */
interface Parser {
  /** Whether the parser takes bytes from the socket itself. */
  readonly _consumed?: boolean | undefined
  execute?(bytes: Uint8Array): Read
  getCurrentBuffer(): Uint8Array
  [EXECUTED]?: ((read: Read) => void) | null | undefined
}

/**
 * Lets a connection's parser continue in the received bytes where it has stopped and `isStopped` says that HTTP follows: Node drops these
 * bytes. Returns a function that reports whether such bytes are being parsed. Node does not document the parser; where it has changed, the
 * bytes are dropped as before.
 */
function readBehind(connection: ParsedConnection, isStopped: () => boolean): () => boolean {
  let isBehind = false
  const { parser } = connection
  if (!isParser(parser)) return () => isBehind
  const { execute } = Object.getPrototypeOf(parser) as Required<Parser>
  const executed = parser[EXECUTED]

  function readOn(bytes: Uint8Array, first: Read): Read {
    let read = first
    let at = 0
    while (typeof read === 'number' && read > 0 && at + read < bytes.length && isStopped()) {
      if (connection.destroyed || connection.parser !== parser) break
      at += read
      isBehind = true
      read = execute.call(parser, bytes.subarray(at))
      isBehind = false
    }
    return typeof read === 'number' ? at + read : read
  }

  if (parser._consumed && executed) {
    parser[EXECUTED] = (read) => executed(isStopped() ? readOn(parser.getCurrentBuffer(), read) : read)
  } else {
    const own = (bytes: Uint8Array) => readOn(bytes, execute.call(parser, bytes))
    parser.execute = own
    // Node gives the parser to another connection next.
    connection.once('close', () => {
      if (parser.execute === own) delete parser.execute
    })
  }
  return () => isBehind
}

function isParser(parser: unknown): parser is Parser {
  return typeof parser === 'object' && parser !== null && 'execute' in parser && 'getCurrentBuffer' in parser
}
