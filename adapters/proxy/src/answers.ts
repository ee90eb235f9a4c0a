import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiResponse } from '@sallyport/api'
import { ERRORS, type ErrorCode } from '@sallyport/core'
import { closingUnread, sendResponse } from '@sallyport/node'
import type { HeadRefusal } from './prechecks.ts'

/** An ErrorResponse; status and message default to those of the error table. */
export function errorAnswer(
  code: ErrorCode,
  status: number = ERRORS[code].status ?? 500,
  message?: string,
): ApiResponse {
  return {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: JSON.stringify({ error: code, message: message ?? ERRORS[code].message }),
  }
}

/** The answer to a request whose head is refused; the connection ends with it. */
export function headAnswer({ status, reason }: HeadRefusal, methods: readonly string[]): ApiResponse {
  const answer = errorAnswer(status === 405 ? 'method_not_allowed' : 'invalid_request', status, reason)
  const headers: Record<string, string> = { ...answer.headers, connection: 'close' }
  if (status === 405) headers['allow'] = methods.join(', ')
  if (status === 426) Object.assign(headers, { upgrade: 'websocket', 'sec-websocket-version': '13' })
  return { ...answer, headers }
}

/** The answer to `OPTIONS *`, which is about this server and not about a resource of the origin. */
export function serverOptions(methods: readonly string[]): ApiResponse {
  return { status: 204, headers: { allow: methods.join(', ') }, body: '' }
}

/** Sends an answer of our own instead of the origin's; never throws. */
export function send(request: IncomingMessage, response: ServerResponse, answer: ApiResponse): void {
  // After a final answer a client that waited for 100 Continue may send its body or not: the next bytes are ambiguous.
  if (request.headers.expect !== undefined) response.shouldKeepAlive = false
  void sendResponse(response, closingUnread(request, answer))
}
