import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ID_HEADER, type RequestHost, refusal, rendered } from '@sallyport/node/internal'
import { writeHead } from '../edge/client-messages.ts'
import { LONG_TARGET, MAX_TARGET } from '../gate/prechecks.ts'

/** Maps the error code of Node's parser to the status of a refused head; any other code is 400. */
const STATUS: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request has too many header fields.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long.'],
}

/** A socket, and the response that uses it. Node keeps the response there, and does not document it. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null | undefined }

/**
 * Reports whether the bytes after a whole request can be dropped: that request gets its own answer, and the connection then ends. False
 * where the bytes belong to its body, or where its answer has already announced that the connection goes on.
 */
export function endsWithAnswer({ code }: NodeJS.ErrnoException, socket: Answering): boolean {
  const { _httpMessage: current, writable } = socket
  if (!current?.req.complete || !writable || code === 'ECONNRESET' || socket.readableEnded) return false
  if (current.headersSent) return !current.shouldKeepAlive
  current.shouldKeepAlive = false
  return true
}

/** An error of Node's parser, with the bytes that the parser was reading. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer | undefined }

/**
 * Answers bytes that are no request, and closes their connection. While another answer is being sent, it writes nothing: the client would
 * take it for a part of that answer.
 */
export function answerClientError(error: ParserError, socket: Answering, { refusalPage: page }: RequestHost): void {
  if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent) {
    socket.destroy()
    return
  }
  const known = isLongTarget(error) ? LONG : STATUS[error.code ?? '']
  const [status, reason] = known ?? [400, 'Not a valid HTTP request.']
  const id = randomUUID()
  const fields = error.rawPacket === undefined ? undefined : likedIn(error.rawPacket)
  const { headers, body } = rendered(refusal('invalid_request', status, reason), { id, fields, page })
  const all = {
    ...headers,
    [ID_HEADER]: id,
    'content-length': String(Buffer.byteLength(String(body))),
    connection: 'close',
  }
  socket.end(`${writeHead(`${status} ${STATUS_CODES[status]}`, Object.entries(all).flat())}${body}`)
  // Later bytes are discarded with the connection.
  socket.destroySoon()
}

const LONG = [LONG_TARGET.status, LONG_TARGET.reason] as const

/** Reports whether a head is too large because of its address alone. */
function isLongTarget({ code, rawPacket = Buffer.alloc(0) }: ParserError): boolean {
  const [, target = ''] = rawPacket.toString('latin1').split(/[ \r\n]/, 2)
  return code === 'HPE_HEADER_OVERFLOW' && target.length > MAX_TARGET
}

/** Reads the preferred form and language of an answer from the received bytes: a browser with too many cookies sends both. */
function likedIn(packet: Buffer): readonly string[] {
  const lines = packet.toString('latin1').matchAll(/^(accept|accept-language):([^\r\n]*)/gim)
  return [...lines].flatMap(([, name = '', value = '']) => [name, value.trim()])
}
