import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ID_HEADER, type RequestHost, refusal, rendered } from '@sallyport/node/internal'
import { LONG_TARGET, MAX_TARGET } from '../gate/prechecks.ts'

/** Statuses of heads that Node's parser refuses, by the code of its error; any other is 400. */
const STATUS: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request has too many header fields.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long.'],
}

/** Texts of the statuses above, for the status line. */
const PHRASE: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}

/** A socket, and the response that has it, which Node keeps there; not documented. */
type Answering = Socket & { readonly _httpMessage?: ServerResponse | null | undefined }

/**
 * Whether what came behind a whole request waits for nothing: that request gets its own answer, with which the connection ends.
 * False where the bytes belong to its body, or where its answer has said already that the connection goes on.
 */
export function endsWithAnswer({ code }: NodeJS.ErrnoException, socket: Answering): boolean {
  const { _httpMessage: current, writable } = socket
  if (!current?.req.complete || !writable || code === 'ECONNRESET' || socket.readableEnded) return false
  if (current.headersSent) return !current.shouldKeepAlive
  current.shouldKeepAlive = false
  return true
}

/** An error of Node's parser, with the bytes that it was reading. */
type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer | undefined }

/**
 * Answers bytes that are no request, and closes their connection. While an answer is on its way on it nothing is
 * written: the client would take it for a part of that.
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
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${status} ${PHRASE[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
  // Bytes that still come are thrown away with the connection.
  socket.destroySoon()
}

const LONG = [LONG_TARGET.status, LONG_TARGET.reason] as const

/** Whether a head is too large for its address alone. */
function isLongTarget({ code, rawPacket = Buffer.alloc(0) }: ParserError): boolean {
  const [, target = ''] = rawPacket.toString('latin1').split(/[ \r\n]/, 2)
  return code === 'HPE_HEADER_OVERFLOW' && target.length > MAX_TARGET
}

/** The fields that say in which form and language an answer is liked: with too many cookies, a browser's are among the bytes. */
function likedIn(packet: Buffer): readonly string[] {
  const lines = packet.toString('latin1').matchAll(/^(accept|accept-language):([^\r\n]*)/gim)
  return [...lines].flatMap(([, name = '', value = '']) => [name, value.trim()])
}
