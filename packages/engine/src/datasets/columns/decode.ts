import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { SallyportError } from '@sallyport/core'
import {
  CHECKSUM_AT,
  CHECKSUM_BYTES,
  computeChecksum,
  DESCRIPTION_AT,
  type FileForm,
  type Layout,
  MAGIC_BYTES,
  padded,
  WORDS_AT,
} from './column-file.ts'
import { type ColumnTypes, type ColumnViews, viewColumn } from './column-view.ts'

/** Holds a column file in memory: its description, and views of its columns. */
export interface DecodedFile<Types extends ColumnTypes, Description> {
  readonly description: Description
  readonly columns: ColumnViews<Types>
  /** All bytes of the file. Another thread that receives them makes its own views. */
  readonly shared: SharedArrayBuffer
}

/**
 * Reads a column file into one piece of shared memory and checks every byte of it. Of a file that this process already has in memory it
 * checks only the head. Throws `corrupt_data` naming the file when it is cut short, changed, of another format or unreadable, and
 * `missing_data` when it does not exist.
 */
export function readColumns<Types extends ColumnTypes, Description>(
  form: FileForm<Types>,
  source: string | SharedArrayBuffer,
): DecodedFile<Types, Description> {
  const shared = typeof source === 'string' ? readShared(source) : source
  const file = Buffer.from(shared)
  const refuse = (reason: string): never => {
    throw new SallyportError('corrupt_data', `${typeof source === 'string' ? source : 'shared memory'}: ${reason}`)
  }
  if (file.length < DESCRIPTION_AT || file.toString('latin1', 0, MAGIC_BYTES) !== form.magic)
    refuse(`the file is not ${form.title}`)
  const [format, textLength, length] = new Uint32Array(shared, WORDS_AT, 3) as unknown as [number, number, number]
  if (format !== form.format) refuse(`the file has format ${format}, but this version reads format ${form.format}`)
  if (length !== file.length) refuse(`the file has ${file.length} bytes instead of ${length}`)
  if (
    typeof source === 'string' &&
    !computeChecksum(file).equals(file.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES))
  ) {
    refuse('its contents do not match its checksum')
  }
  const text = file.toString('utf8', DESCRIPTION_AT, DESCRIPTION_AT + textLength)
  const { layout, ...description } = JSON.parse(text) as Description & { readonly layout: Layout }
  const start = padded(DESCRIPTION_AT + textLength)
  const columns = Object.entries(form.columns).map(([name, type]) => {
    const [offset, count] = layout[name] as Layout[string]
    return [name, viewColumn(type, shared, start + offset, count)] as const
  })
  return {
    description: description as unknown as Description,
    columns: Object.fromEntries(columns) as unknown as ColumnViews<Types>,
    shared,
  }
}

function readShared(path: string): SharedArrayBuffer {
  let file = -1
  try {
    file = openSync(path, 'r')
    const shared = new SharedArrayBuffer(fstatSync(file).size)
    const bytes = Buffer.from(shared)
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, bytes.length - at, at)
      // The file has become shorter: the checks of length and checksum will refuse it.
      if (read === 0) break
      at += read
    }
    return shared
  } catch (error) {
    throw describeFault(path, error)
  } finally {
    if (file !== -1) closeSync(file)
  }
}

/** Returns the refusal of a file that the disk does not give. */
export function describeFault(path: string, error: unknown): SallyportError {
  const { code, message } = error as NodeJS.ErrnoException
  return new SallyportError(code === 'ENOENT' ? 'missing_data' : 'corrupt_data', `${path}: ${message}`)
}
