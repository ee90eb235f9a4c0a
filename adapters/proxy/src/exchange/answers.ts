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
import type { Exchange } from './exchange.ts'
import type { RefusalCause } from './refusals.ts'

/** Refuses a request for its head; the connection closes after it. */
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

/** The answer to `OPTIONS *`, which is about this server and not about a resource of the origin. */
export function serverOptions(methods: readonly string[]): ApiResponse {
  return { status: 204, headers: { allow: methods.join(', ') }, body: '' }
}

/**
 * Sends an answer of our own instead of the origin's, with the request's id. Never throws: one that cannot be sent is a
 * fault of its exchange.
 */
export function send(exchange: Exchange, answered: ApiResponse): void {
  exchange.guard(() => {
    const { request, response, id, standing, check, refused } = exchange
    const answer = check ? checkAnswer(answered, refused, check) : answered
    // nginx asks for the page, which has that status.
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

/** Refusals that any server relays to a client as they are, or asks for the page of. */
const CHECK_STATUSES = [303, 401]

type CheckForm = NonNullable<Exchange['check']>

/** The answer to a check: never one by which the server that asks would forward what was refused, or call us failed. */
function checkAnswer({ status, headers, body }: ApiResponse, refused: boolean, check: CheckForm): ApiResponse {
  const isRelayed = check === 'relayed' && status >= 400 && status < 500
  const isShown = !refused || CHECK_STATUSES.includes(status) || isRelayed
  return { status: isShown ? status : 403, headers: { ...headers, 'sallyport-status': String(status) }, body }
}

/** Answers an exchange in which something of ours threw, without a detail. */
export function answerFault(exchange: Exchange): void {
  answerWith(exchange, refusal('internal_error'), 'fault')
}

/** Refuses an exchange; `why` where nothing was decided against its client. Never throws. */
export function answerWith(exchange: Exchange, refused: Refusal, why?: string): void {
  exchange.guard(() => send(exchange, exchange.refuse(refused, why)))
}

/** Sends what the phases of an exchange came to; where they forward it, nothing. */
export function sendAnswered(exchange: Exchange, answered: Answered | Promise<Answered>): void {
  if (answered instanceof Promise) {
    answered.then(
      (later) => sendAnswered(exchange, later),
      (error: unknown) => exchange.fail(error),
    )
  } else if (answered !== undefined) send(exchange, answered)
}
