import type { ParsedConnection } from './parsed-heads.ts'

/** Node's `HTTPParser.kOnExecute`: called with what was read of bytes that the parser has taken from the socket itself. */
const EXECUTED = 5

/** The number of bytes that were read, or why none is. */
type Read = number | Error

/** Node's parser of a connection. */
interface Parser {
  /** Whether it takes bytes from the socket itself. */
  readonly _consumed?: boolean | undefined
  execute?(bytes: Uint8Array): Read
  getCurrentBuffer(): Uint8Array
  [EXECUTED]?: ((read: Read) => void) | null | undefined
}

/**
 * Has a connection's parser read on in what was received where it has stopped and `isStopped` says that the rest is of HTTP all
 * the same: Node drops that. Returns whether such a rest is being read. The parser is not documented; where it has changed, the
 * rest is dropped as before.
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
    // Another connection gets the parser next.
    connection.once('close', () => {
      if (parser.execute === own) delete parser.execute
    })
  }
  return () => isBehind
}

function isParser(parser: unknown): parser is Parser {
  return typeof parser === 'object' && parser !== null && 'execute' in parser && 'getCurrentBuffer' in parser
}
