import { PassThrough, pipeline, type Readable } from 'node:stream'
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

/** Bytes that may come with the headers, before the body has a listener. */
export const MAX_EARLY_BYTES = 2 ** 20

interface BodyOptions {
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
export function openBody(received: Readable, { coding, maxBytes, onEnd }: BodyOptions): AsyncIterable<Uint8Array> {
  const raw = bufferBody(received, maxBytes)
  const stream = decode(raw, coding.trim().toLowerCase())
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

/**
 * Buffers what the reader has not read yet, up to `maxBytes`; beyond, the body fails. Without it the body would be paused,
 * and undici's HTTP/1 parser ends the process when a server closes a paused connection (nodejs/undici issue 5360, not
 * fixed in any release for Node 20).
 */
function bufferBody(raw: Readable, maxBytes: number): Readable {
  const buffer = new PassThrough()
  let bytes = 0
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) raw.destroy(new Error(`the body is larger than ${maxBytes} bytes`))
    else buffer.write(chunk)
  })
  raw.on('end', () => buffer.end())
  raw.on('error', (error) => buffer.destroy(error))
  raw.on('close', () => {
    if (!raw.readableEnded) buffer.destroy(raw.errored ?? new Error('reading the body was aborted'))
  })
  buffer.on('close', () => raw.destroy())
  return buffer
}

function decode(raw: Readable, coding: string): Readable {
  if (coding === '' || coding === 'identity') return raw
  const decoder = DECODERS.get(coding)
  if (decoder === undefined) throw new Error(`unknown content coding "${coding}"`)
  return pipeline(raw, decoder(), () => undefined)
}

async function* bounded(source: Readable, maxBytes: number): AsyncGenerator<Buffer, undefined> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`the body is larger than ${maxBytes} bytes`)
    yield chunk
  }
}
