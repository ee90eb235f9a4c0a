import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { errorCode } from '@sallyport/core'

/** Content codings that are decoded (RFC 9110 section 8.4.1). */
const DECODERS = new Map([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
])

/** Value of `Accept-Encoding`. */
export const ACCEPTED_CODINGS = 'gzip, br'

export interface BodyOptions {
  /** Value of `Content-Encoding`; '' when there is none. */
  readonly coding: string
  readonly maxBytes: number
  /** Called once, when the body ends, fails or is dropped. */
  readonly onEnd: () => void
}

/**
 * A decoded body, its size bounded before and after decoding: a bomb is small on the wire, and a compressed stream can be
 * endless without yielding a byte. Throws for an unknown coding.
 */
export function openBody(raw: Readable, { coding, maxBytes, onEnd }: BodyOptions): AsyncIterable<Uint8Array> {
  const stream = decoded(raw, coding.trim().toLowerCase(), maxBytes)
  // A deadline can pass while nothing reads; the iterator reports the error to the next read.
  stream.on('error', () => undefined)
  const chunks = bounded(stream, maxBytes)
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    raw.destroy()
    stream.destroy()
    onEnd()
  }
  // Not a generator: one that was never started ignores `return`, and the socket would stay open.
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      try {
        const result = await chunks.next()
        if (!result.done) return { done: false, value: result.value }
        end()
        return { done: true, value: undefined }
      } catch (error) {
        end()
        throw new Error(errorCode(error))
      }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

function decoded(raw: Readable, coding: string, maxBytes: number): Readable {
  if (coding === '' || coding === 'identity') return raw
  const decoder = DECODERS.get(coding)
  if (decoder === undefined) throw new Error(`unknown content coding "${coding}"`)
  return pipeline(
    raw,
    (source: Readable) => bounded(source, maxBytes),
    decoder(),
    () => undefined,
  )
}

async function* bounded(source: Readable, maxBytes: number): AsyncGenerator<Buffer, undefined> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`the body is larger than ${maxBytes} bytes`)
    yield chunk
  }
}
