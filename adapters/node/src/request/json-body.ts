import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { invalidField, SallyportError } from '@sallyport/core/host'

/** Limits the body that the API reads, in bytes. */
export const BODY_LIMIT = 64 * 1024

/** Reports whether the request declares a body larger than the API reads. */
export function declaresTooMuch(req: { readonly headers: IncomingHttpHeaders }): boolean {
  return Number(req.headers['content-length'] ?? 0) > BODY_LIMIT
}

/**
 * Reads the JSON body of a request with these headers. `parsed` is the result of the host's parser, and is used where the host has read the
 * body; else the stream is read, up to `BODY_LIMIT`.
 *
 * Rejects with `payload_too_large`, before the first byte where the length is declared, and with `invalid_request` for a compressed body, a
 * body that is not JSON in UTF-8, or a body that ends early.
 */
export async function readJson(body: Readable, headers: IncomingHttpHeaders, parsed: unknown): Promise<unknown> {
  if (declaresTooMuch({ headers })) throw new SallyportError('payload_too_large')
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') {
    throw invalidField('body', 'must not be compressed')
  }
  // Parsers turn an empty body into {}.
  if (Number(headers['content-length']) === 0) throw notJson()
  // A parser that skipped this request leaves a value of its own, such as {}. The stream decides.
  if (body.readableDidRead || body.readableEnded) return parsed
  const bytes = await readBytes(body)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw notJson()
  }
}

function notJson(): SallyportError {
  return invalidField('body', 'not valid JSON')
}

// Events are necessary: leaving a `for await` early destroys the request, and its socket before the refusal is written.
function readBytes(body: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const fail = (error: SallyportError) => {
      body.off('data', take).pause()
      reject(error)
    }
    const take = (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      size += bytes.length
      if (size > BODY_LIMIT) fail(new SallyportError('payload_too_large'))
      else chunks.push(bytes)
    }
    const cut = () => fail(invalidField('body', 'ended early'))
    if (body.destroyed) return cut()
    body.on('data', take)
    // An HTTP/2 stream that is cut also sends `end`.
    body.once('end', () => (body.destroyed ? cut() : resolve(Buffer.concat(chunks))))
    body.once('error', cut)
    body.once('close', cut)
  })
}
