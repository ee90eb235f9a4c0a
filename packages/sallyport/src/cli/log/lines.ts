import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as delay } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { SallyportError } from '@sallyport/core'
import { fileReason } from '@sallyport/engine/files'

/** In characters; longer lines are skipped, because a file of another kind may have no line breaks. */
const MAX_LINE = 65_536

/** How often a followed file is looked at. */
const FOLLOW_MS = 200
const CHUNK_BYTES = 65_536

/**
 * The lines of a file, unpacked where its name ends in `.gz`; `undefined` for a line that is too long. In `latin1` each
 * letter is a byte.
 */
export async function* linesOfFile(
  file: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): AsyncIterable<string | undefined> {
  try {
    yield* linesOf(textOf(file, encoding))
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** The lines of a stream of text. */
export async function* linesOf(text: AsyncIterable<string>): AsyncIterable<string | undefined> {
  let rest = ''
  let cut = false
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      yield cut ? undefined : line
      cut = false
    }
    if (rest.length > MAX_LINE) {
      rest = ''
      cut = true
    }
  }
  yield cut ? undefined : rest
}

/**
 * The text of a file and what is appended to it, without an end; a new file of that name is read from its beginning.
 * Calls `onEnd` whenever there is nothing more for now.
 */
export async function* followedText(file: string, onEnd: () => void): AsyncIterable<string> {
  let handle = await open(file).catch((error) => Promise.reject(unreadable(file, error)))
  // A letter may come in two pieces.
  let letters = new StringDecoder()
  try {
    for (let position = 0; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position)
      position += bytesRead
      if (bytesRead > 0) {
        yield letters.write(buffer.subarray(0, bytesRead))
        continue
      }
      onEnd()
      await delay(FOLLOW_MS)
      if (await isReplaced(file, handle, position)) {
        const next = await open(file)
        await handle.close()
        handle = next
        letters = new StringDecoder()
        position = 0
      }
    }
  } finally {
    await handle.close()
  }
}

/** Whether the name is another file's now, or the file was cut; while there is none of that name, it is not. */
async function isReplaced(file: string, handle: FileHandle, position: number): Promise<boolean> {
  const [named, held] = await Promise.all([stat(file).catch(() => undefined), handle.stat()])
  return named !== undefined && (named.ino !== held.ino || named.size < position)
}

function textOf(file: string, encoding: 'utf8' | 'latin1'): Readable {
  const raw = createReadStream(file)
  if (!file.endsWith('.gz')) return raw.setEncoding(encoding)
  const unpacked = createGunzip()
  raw.on('error', (error) => unpacked.destroy(error))
  return raw.pipe(unpacked).setEncoding(encoding)
}

function unreadable(file: string, error: unknown): unknown {
  if (error instanceof SallyportError) return error
  return new SallyportError('invalid_request', `${file} ${fileReason(error)}`)
}
