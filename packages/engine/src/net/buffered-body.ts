import { PassThrough, type Readable } from 'node:stream'

/**
 * Buffers what the reader has not read yet, up to `maxBytes`; beyond, the body fails. Without it the body would be paused,
 * and undici's HTTP/1 parser ends the process when a server closes a paused connection (nodejs/undici issue 5360, not
 * fixed in any release for Node 20).
 */
export function bufferBody(raw: Readable, maxBytes: number): Readable {
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

/** Bytes that may come with the headers, before the body has a listener. */
export const MAX_EARLY_BYTES = 2 ** 20
