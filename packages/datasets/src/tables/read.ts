import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import {
  COLUMN_NAMES,
  type Columns,
  DESCRIPTION_AT,
  type Description,
  DIGEST_AT,
  DIGEST_BYTES,
  digestOf,
  type Layout,
  MAGIC,
  padded,
  TABLES_FORMAT,
  viewColumn,
  WORDS_AT,
} from './format.ts'

export interface DecodedTables {
  readonly description: Description
  readonly columns: Columns
}

/**
 * Reads a tables file into one piece of shared memory and checks every byte of it. Throws `corrupt_data` naming the
 * file when it is cut short, changed, of another format or unreadable, and `missing_data` when it is not there.
 */
export function readTables(path: string): DecodedTables {
  const file = readShared(path)
  const refuse = (reason: string): never => {
    throw new SallyportError('corrupt_data', `${path}: ${reason}`)
  }
  if (file.length < DESCRIPTION_AT || MAGIC.compare(file, 0, MAGIC.length) !== 0) refuse('not a tables file')
  const [format, textLength, length] = new Uint32Array(file.buffer, WORDS_AT, 3) as unknown as [number, number, number]
  if (format !== TABLES_FORMAT) refuse(`format ${format}, where this version reads ${TABLES_FORMAT}`)
  if (length !== file.length) refuse(`${file.length} bytes long instead of ${length}`)
  if (!digestOf(file).equals(file.subarray(DIGEST_AT, DIGEST_AT + DIGEST_BYTES))) {
    refuse('its contents do not fit its checksum')
  }
  const text = file.toString('utf8', DESCRIPTION_AT, DESCRIPTION_AT + textLength)
  const { layout, ...description } = JSON.parse(text) as Description & { readonly layout: Layout }
  const start = padded(DESCRIPTION_AT + textLength)
  const columns = COLUMN_NAMES.map((name) => {
    const [offset, count] = layout[name]
    return [name, viewColumn(name, file.buffer, start + offset, count)] as const
  })
  return { description, columns: Object.fromEntries(columns) as unknown as Columns }
}

function readShared(path: string): Buffer {
  let file = -1
  try {
    file = openSync(path, 'r')
    const bytes = Buffer.from(new SharedArrayBuffer(fstatSync(file).size))
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, bytes.length - at, at)
      // Shorter than a moment ago: the checks on length and digest tell.
      if (read === 0) break
      at += read
    }
    return bytes
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new SallyportError(code === 'ENOENT' ? 'missing_data' : 'corrupt_data', `${path}: ${message}`)
  } finally {
    if (file !== -1) closeSync(file)
  }
}
