import { PassThrough, type Readable } from 'node:stream'

/**
 * The same bytes without ever making undici wait: its HTTP/1 parser ends the whole process when a server closes while
 * it is paused (nodejs/undici issue 5360, not fixed in any release for Node 20). What the reader has not taken yet is
 * held in memory, up to `maxBytes`; beyond, the body fails.
 */
export function unpaused(raw: Readable, maxBytes: number): Readable {
  const held = new PassThrough()
  let bytes = 0
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) raw.destroy(new Error(`the body is larger than ${maxBytes} bytes`))
    else held.write(chunk)
  })
  raw.on('end', () => held.end())
  raw.on('error', (error) => held.destroy(error))
  raw.on('close', () => {
    if (!raw.readableEnded) held.destroy(raw.errored ?? new Error('the body was given up'))
  })
  held.on('close', () => raw.destroy())
  return held
}

/** Room for what may come with the headers, before anybody can take it. */
export const FIRST_BYTES = 2 ** 20
