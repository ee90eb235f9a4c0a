import type { ApiResponse } from '@sallyport/engine'
import {
  type Answered,
  closingUnread,
  type HeadFault,
  ID_HEADER,
  type Refusal,
  refusal,
  sendResponse,
} from '@sallyport/node/internal'
import type { CutCause } from '../edge/edge-options.ts'
import type { Exchange } from './exchange.ts'

/** Says why a connection or a request was refused or cut without a decision against its client. */
export type RefusalCause =
  | CutCause
  | 'pipelined'
  | 'head'
  | 'overload'
  | 'in_flight'
  | 'tunnels'
  | 'origin_queue'
  | 'body_bytes'
  | 'buffered_bytes'
  | 'slow_body'
  | 'slow_reader'
  | 'fault'

/** Counts refusals by cause. */
export interface Refusals {
  /** Counts a request that is answered; an observer of requests counts it there. */
  count(cause: RefusalCause): void
  /** Counts a connection or a request that is cut without an answer, whose end no observer sees. */
  cut(cause: RefusalCause): void
}

export function createRefusals(
  onRefused: (cause: RefusalCause) => void,
  onCut: (cause: RefusalCause) => void,
): Refusals {
  return {
    count: onRefused,
    cut(cause) {
      onRefused(cause)
      onCut(cause)
    },
  }
}

/** Refuses a request for its head; the connection closes after the answer. */
export function headRefusal({ status, reason }: HeadFault, methods: readonly string[]): Refusal {
  const refused = refusal(status === 405 ? 'method_not_allowed' : 'invalid_request', status, reason)
  const headers: Record<string, string> = { ...refused.headers, connection: 'close' }
  if (status === 405) headers['allow'] = methods.join(', ')
  if (status === 426) Object.assign(headers, { upgrade: 'websocket', 'sec-websocket-version': '13' })
  return { ...refused, headers }
}

/** Refuses a request that exceeds one of our limits. */
export function limitRefusal(cause: RefusalCause): Refusal {
  const refused = REFUSED[cause] ?? refusal('service_unavailable', 503, BUSY)
  return refused.status === 503 ? refused : { ...refused, headers: { ...refused.headers, connection: 'close' } }
}

const BUSY = 'The server is busy. Try again later.'
const REFUSED: Partial<Readonly<Record<RefusalCause, Refusal>>> = {
  in_flight: refusal('service_unavailable', 503, 'Too many requests of this client are in flight.'),
  tunnels: refusal('service_unavailable', 503, 'Too many WebSockets of this client are open.'),
  body_bytes: refusal('payload_too_large', 413, 'The body is larger than limits.bodyBytes.'),
  slow_body: refusal('invalid_request', 408, 'The body took too long.'),
}

/** Matches gRPC over HTTP/2; `application/grpc-web` works over any version, and passes. */
const GRPC = /^application\/grpc(?:$|[+; ])/i

/** Reports whether a request is a gRPC call, which needs an origin that speaks HTTP/2. */
export function isGrpc({ httpVersionMajor, headers }: Exchange['request']): boolean {
  return httpVersionMajor === 2 && GRPC.test(headers['content-type'] ?? '')
}

/**
 * Refuses a gRPC call in a form that gRPC clients show: as an answer without messages, with a gRPC status. Clients read any other HTTP
 * status as UNKNOWN or UNAVAILABLE, and some retry.
 */
export const UNIMPLEMENTED: ApiResponse = {
  status: 200,
  headers: {
    'content-type': 'application/grpc',
    'grpc-status': '12',
    'grpc-message': 'gRPC is not supported: the origin is reached over HTTP/1.1.',
  },
  body: '',
}

/** Answers `OPTIONS *`, which asks about this server and not about a resource of the origin. */
export function serverOptions(methods: readonly string[]): ApiResponse {
  return { status: 204, headers: { allow: methods.join(', ') }, body: '' }
}

/**
 * Sends an answer of our own instead of the origin's, with the request's id. Never throws: an answer that cannot be sent is a fault of its
 * exchange.
 */
export function send(exchange: Exchange, answered: ApiResponse): void {
  exchange.guard(() => {
    const { request, response, id, standing, check, refused } = exchange
    const answer = check ? checkAnswer(answered, exchange) : answered
    // nginx requests the page, whose answer has that status.
    if (check === 'few' && refused) exchange.observation.status = answered.status
    // After a final answer a client that waited for 100 Continue may send its body or not: the next bytes are ambiguous.
    if (request.headers.expect !== undefined) response.shouldKeepAlive = false
    if (!response.headersSent) {
      // Drop the headers of a response that was never sent.
      for (const name of response.getHeaderNames()) response.removeHeader(name)
      response.setHeader(ID_HEADER, id)
      for (const name in standing) response.setHeader(name, standing[name] as string)
    }
    void sendResponse(response, closingUnread(request, answer), (error) => exchange.fail(error))
  })
}

/** Refusals that every server relays to a client unchanged, or for which it requests the page. */
const CHECK_STATUSES = [303, 401]

/** Returns the answer to a check: no answer may let the asking server forward a refused request, or treat us as failed. */
function checkAnswer({ status, headers, body }: ApiResponse, { check, refused, head }: Exchange): ApiResponse {
  const isRelayed = check === 'relayed' && status >= 400 && status < 500
  const isShown = !refused || CHECK_STATUSES.includes(status) || isRelayed
  // nginx keeps no body: the status says that the client of its page reads JSON-RPC.
  const form = refused && check === 'few' && head.mcp !== undefined ? ';mcp' : ''
  return { status: isShown ? status : 403, headers: { ...headers, 'sallyport-status': `${status}${form}` }, body }
}

/** Refuses an exchange; `why` names the cause where no decision refuses the client. Never throws. */
export function answerWith(exchange: Exchange, refused: Refusal, why?: string): void {
  exchange.guard(() => send(exchange, exchange.refuse(refused, why)))
}

/** Sends the answer of an exchange's phases; does nothing where a phase forwards the exchange. */
export function sendAnswered(exchange: Exchange, answered: Answered | Promise<Answered>): void {
  if (answered instanceof Promise) {
    answered.then(
      (later) => sendAnswered(exchange, later),
      (error: unknown) => exchange.fail(error),
    )
  } else if (answered !== undefined) send(exchange, answered)
}
