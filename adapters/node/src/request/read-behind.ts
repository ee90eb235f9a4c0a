import type { ParsedConnection } from './parsed-heads.ts'

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
export function readBehind(connection: ParsedConnection, isStopped: () => boolean): () => boolean {
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
