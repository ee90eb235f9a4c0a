import type { IncomingMessage, ServerResponse } from 'node:http'
import { ERRORS, type ErrorCode, SallyportError } from '@sallyport/core'

/** Limits a body, in bytes: it fits what people write and paste, and is fast to read. */
const MAX_BODY = 32_768

/** Headers that every answer has: no outside sources, nothing inline, no frames. */
export const SECURITY = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** Statuses that the console has for codes without one of their own. */
const STATUSES: Partial<Readonly<Record<ErrorCode, number>>> = {
  unknown_account: 404,
  unknown_key: 404,
  unknown_request: 404,
  unknown_ban: 404,
  unknown_observation: 404,
  edit_conflict: 409,
  edit_untagged: 428,
  update_failed: 502,
  ledger_refused: 503,
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    ...SECURITY,
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

/** Sends an error with a code as JSON; any other error is a bug, without details. */
export function sendError(response: ServerResponse, error: unknown): void {
  const known = error instanceof SallyportError ? error : new SallyportError('internal_error')
  const status = STATUSES[known.code] ?? ERRORS[known.code].status ?? 400
  const { details } = known
  const seconds = details?.['retryAfter']
  const headers = typeof seconds === 'number' ? { 'Retry-After': String(seconds) } : {}
  sendJson(response, status, { error: known.code, message: known.message, ...(details && { details }) }, headers)
}

/** Reads the body as JSON; one that is too large is read and dropped. Rejects with `payload_too_large` or `invalid_request`. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      size += part.length
      if (size <= MAX_BODY) parts.push(part)
    }
  } catch {
    throw new SallyportError('invalid_request', 'The request body ended early.')
  }
  if (size > MAX_BODY) throw new SallyportError('payload_too_large', 'The request body is larger than 32 KiB.')
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    throw new SallyportError('invalid_request', 'The body is not JSON.')
  }
}
