import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { reasonOf } from './deadline.ts'

/** Content codings that are asked for and undone (RFC 9110 section 8.4.1). */
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
 * A body with its content coding undone and its size bounded before and after: a bomb is small on the wire, and a
 * compressed stream can be endless without ever giving a byte. Throws for a coding that is not known.
 */
export function openBody(raw: Readable, { coding, maxBytes, onEnd }: BodyOptions): AsyncIterable<Uint8Array> {
  const stream = decoded(raw, coding.trim().toLowerCase(), maxBytes)
  // A deadline can pass while nobody reads; whoever reads later is told the same error by the iterator.
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
  // Not a generator: one that was never started does nothing on `return`, and the socket would stay.
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      try {
        const result = await chunks.next()
        if (!result.done) return { done: false, value: result.value }
        end()
        return { done: true, value: undefined }
      } catch (error) {
        end()
        throw new Error(reasonOf(error))
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
