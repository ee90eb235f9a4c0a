import type { IncomingMessage } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import type { McpBody } from '@sallyport/core/host'

/** Limits the body that is read, in bytes. */
export const BODY_LIMIT = 64 * 1024

/** Limits how long a client may take for a body that is read ahead, in milliseconds. */
const BODY_MS = 10_000

/** Holds what was read of a body; `spent` says that its stream has ended. */
export type ReadAhead = Exclude<McpBody, { readonly parsed: unknown }> & { readonly spent?: true | undefined }

/**
 * Reads a body of at most `BODY_LIMIT` bytes and puts it back into its stream, for the next reader. `isWhole` reports that the whole body
 * has come, although the stream has not ended. Never rejects.
 */
export function readAhead(body: Readable, isWhole: () => boolean, timeoutMs: number = BODY_MS): Promise<ReadAhead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (read: ReadAhead): void => {
      clearTimeout(timer)
      body.off('readable', look).off('end', end).off('close', cut).off('error', cut)
      if (size > 0 && !body.readableEnded && !body.destroyed) putBack(body, Buffer.concat(chunks))
      resolve(read)
    }
    const cut = (): void => finish({ missing: 'slow' })
    // An HTTP/2 stream that is cut also sends `end`.
    const end = (): void => (body.destroyed ? cut() : finish({ bytes: Buffer.concat(chunks), spent: true }))
    const look = (): void => {
      for (let chunk: Buffer | string | null = body.read(); chunk !== null; chunk = body.read()) {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk, body.readableEncoding ?? 'utf8') : chunk
        chunks.push(bytes)
        size += bytes.length
        if (size > BODY_LIMIT) break
      }
      if (size > BODY_LIMIT) finish({ missing: 'too_large' })
      else if (isWhole()) finish({ bytes: Buffer.concat(chunks) })
    }
    const timer = Number.isFinite(timeoutMs) ? setTimeout(cut, timeoutMs) : undefined
    if (body.destroyed) return cut()
    body.on('readable', look).once('end', end).once('close', cut).once('error', cut)
    look()
  })
}

/**
 * Puts bytes back into a stream. A complete stream emits its end in the next turn if it is empty, so bytes that return at once are read
 * first. Frameworks refuse a body that was read before; this body counts as unread.
 */
function putBack(body: Readable & { readonly _readableState?: { dataEmitted?: boolean } }, bytes: Buffer): void {
  body.unshift(bytes)
  const { _readableState: state } = body
  if (state !== undefined) state.dataEmitted = false
}

/** Reports whether all bytes of a request of Node have come: by its parser, or over HTTP/2 by its stream. */
export function hasArrived(req: IncomingMessage & { readonly stream?: Http2Stream | undefined }): boolean {
  return req.complete || req.stream?.readableEnded === true
}

/** Returns a body that the host's parser has read before us; the parser may have kept only the text. */
export function parsedBody(parsed: unknown): McpBody {
  if (parsed === undefined) return { missing: 'unseen' }
  if (typeof parsed === 'string') return { bytes: Buffer.from(parsed) }
  return parsed instanceof Uint8Array ? { bytes: parsed } : { parsed }
}
