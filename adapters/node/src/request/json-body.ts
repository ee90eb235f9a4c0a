import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { invalidField, SallyportError } from '@sallyport/core/host'
import { BODY_LIMIT, readAhead } from './read-ahead.ts'

/** Reports whether the request declares a body larger than the API reads. */
export function declaresTooMuch(req: { readonly headers: IncomingHttpHeaders }): boolean {
  return Number(req.headers['content-length'] ?? 0) > BODY_LIMIT
}

/**
 * Reads the JSON body of a request with these headers; `parsed` is the result of the host's parser, where the host has read the body.
 * Rejects with `payload_too_large`, before the first byte where the length is declared, and with `invalid_request`.
 */
export async function readJson(body: Readable, headers: IncomingHttpHeaders, parsed: unknown): Promise<unknown> {
  if (declaresTooMuch({ headers })) throw new SallyportError('payload_too_large')
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') throw invalidField('body', 'must not be compressed')
  // Parsers turn an empty body into {}.
  if (Number(headers['content-length']) === 0) throw notJson()
  // A parser that skipped this request leaves a value of its own, such as {}. The stream decides.
  if (body.readableDidRead || body.readableEnded) return parsed
  // A client may leave after its body was refused.
  body.on('error', () => {})
  // The server itself ends a request that takes too long.
  const read = await readAhead(body, () => false, Number.POSITIVE_INFINITY)
  if ('missing' in read) {
    throw read.missing === 'too_large' ? new SallyportError('payload_too_large') : invalidField('body', 'ended early')
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(read.bytes))
  } catch {
    throw notJson()
  }
}

function notJson(): SallyportError {
  return invalidField('body', 'not valid JSON')
}
