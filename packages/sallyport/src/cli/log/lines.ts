import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as delay } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { SallyportError } from '@sallyport/core'
import { fileReason } from '@sallyport/engine/files'
import { inputName, STANDARD_INPUT } from '../terminal/input.ts'

/** Limits a line, in characters; longer lines are skipped, because a file of another kind may have no line breaks. */
const MAX_LINE = 65_536

const FOLLOW_MS = 200
const CHUNK_BYTES = 65_536

/** Yields the lines of a file, unpacked where it is gzip; `undefined` for too long lines. Calls `onCut` where a packed file ends early. */
export async function* readFileLines(
  file: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
  onCut?: () => void,
): AsyncIterable<string | undefined> {
  try {
    yield* splitLines(decodeLetters(readBytes(file, onCut), encoding))
  } catch (error) {
    throw describeUnreadable(file, error)
  }
}

export function describeCut(file: string): string {
  return `${inputName(file)} is truncated; it is read up to that point.`
}

export async function* splitLines(text: AsyncIterable<string>): AsyncIterable<string | undefined> {
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

/** Yields the text of a file and what is appended later, also after a rotation. Calls `onEnd` whenever no text is left for now. */
export async function* followText(file: string, onEnd: () => void): AsyncIterable<string> {
  let handle = await open(file).catch((error) => Promise.reject(describeUnreadable(file, error)))
  // A letter may arrive in two pieces.
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

/** Reports whether another file has the name now, or the file was cut; false while no file has the name. */
async function isReplaced(file: string, handle: FileHandle, position: number): Promise<boolean> {
  const [named, held] = await Promise.all([stat(file).catch(() => undefined), handle.stat()])
  return named !== undefined && (named.ino !== held.ino || named.size < position)
}

async function* decodeLetters(bytes: AsyncIterable<Buffer>, encoding: 'utf8' | 'latin1'): AsyncIterable<string> {
  const letters = new StringDecoder(encoding)
  for await (const chunk of bytes) yield letters.write(chunk)
  yield letters.end()
}

const GZIP = '1f8b'

/** Lists the first bytes of other file types, in hexadecimal, with advice for each. */
const OTHERS: readonly (readonly [begins: string, fault: string])[] = [
  ['425a68', 'is compressed with bzip2. Decompress it first (bzip2 -dc)'],
  ['28b52ffd', 'is compressed with zstd. Decompress it first (zstd -dc)'],
  ['fd377a585a00', 'is compressed with xz. Decompress it first (xz -dc)'],
  ['fffe', 'is encoded in UTF-16. Save it as UTF-8'],
  ['feff', 'is encoded in UTF-16. Save it as UTF-8'],
]

/** Counts the bytes of the longest beginning in `OTHERS`. */
const LONGEST = 6

async function* readBytes(file: string, onCut: (() => void) | undefined): AsyncIterable<Buffer> {
  const source = file === STANDARD_INPUT ? process.stdin : createReadStream(file)
  try {
    const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]()
    let first = Buffer.alloc(0)
    while (first.length < LONGEST) {
      const { done, value } = await chunks.next()
      if (done) break
      first = Buffer.concat([first, value])
    }
    const begins = first.toString('hex', 0, LONGEST)
    const [, fault] = OTHERS.find(([bytes]) => begins.startsWith(bytes)) ?? []
    if (fault !== undefined) throw new SallyportError('invalid_request', `${inputName(file)} ${fault}.`)
    const all = joinChunks(first, chunks)
    yield* begins.startsWith(GZIP) ? unpack(all, onCut) : all
  } finally {
    // Another program may still write to standard input, and this process would wait for it.
    source.destroy()
  }
}

async function* joinChunks(first: Buffer, rest: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

async function* unpack(packed: AsyncIterable<Buffer>, onCut: (() => void) | undefined): AsyncIterable<Buffer> {
  let isBegun = false
  try {
    // The reader receives the error.
    for await (const chunk of pipeline(Readable.from(packed), createGunzip(), () => {})) {
      isBegun = true
      yield chunk
    }
  } catch (error) {
    if (!isBegun || findCode(error) !== 'Z_BUF_ERROR') throw error
    onCut?.()
  }
}

const UNPACKING: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'is truncated and cannot be read.',
  Z_DATA_ERROR: 'is corrupt and cannot be decompressed.',
}

function findCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

function describeUnreadable(file: string, error: unknown): unknown {
  if (error instanceof SallyportError) return error
  const reason = UNPACKING[String(findCode(error))] ?? fileReason(error)
  return new SallyportError('invalid_request', `${inputName(file)} ${reason}`)
}
