import { readFile, stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import {
  createListReader,
  createNamedList,
  type ListEntries,
  type ListFormat,
  linesOfList,
  type NamedList,
} from '@sallyport/core'

/** A list that was read whole, or one sentence about why not, without its subject. */
export type ListRead =
  | { readonly state: 'read'; readonly entries: ListEntries; readonly size: number; readonly list: NamedList }
  | { readonly state: 'refused'; readonly reason: string }

/** Bytes of a list. */
export const MAX_BYTES = 32 * 2 ** 20
const MAX_ENTRIES = 500_000
const MAX_LINES = 2_000_000
/** Lines after which other work has its turn: some milliseconds. */
const LINES_A_TURN = 10_000

/** The file's time, size and identity, which another content changes; `undefined` where there is none. */
export async function stampOf(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`
}

export async function readListFile(path: string, format: ListFormat): Promise<ListRead> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) return refused('is no regular file')
    if (stats.size > MAX_BYTES) return refused(TOO_LARGE)
    return await readListBytes(await readFile(path), format)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return refused(code === 'ENOENT' ? 'is not there' : `cannot be read: ${code}`)
  }
}

const TOO_LARGE = `is larger than ${MAX_BYTES / 2 ** 20} MB`

/** Reads a list in steps, between which requests are answered. */
export async function readListBytes(bytes: Uint8Array, format: ListFormat): Promise<ListRead> {
  if (bytes.length > MAX_BYTES) return refused(TOO_LARGE)
  if (bytes.includes(0)) return refused('is binary, and not a text with an entry a line')
  const text = new TextDecoder().decode(bytes)
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return refused('is a web page, and not a list')
  const lines = linesOfList(text, format)
  return lines === undefined ? refused(`is not ${format.toUpperCase()} with entries`) : readListLines(lines)
}

export async function readListLines(lines: Iterable<string>): Promise<ListRead> {
  const reader = createListReader()
  let taken = 0
  try {
    for (const line of lines) {
      reader.take(line)
      if (reader.size > MAX_ENTRIES) return refused(`has more than ${MAX_ENTRIES} entries`)
      if (++taken > MAX_LINES) return refused(`has more than ${MAX_LINES} lines`)
      if (taken % LINES_A_TURN === 0) await turn()
    }
  } catch (error) {
    if (error instanceof RangeError) return refused('is nested too deeply')
    throw error
  }
  const entries = reader.entries()
  const { left, unread } = entries
  // Some bad lines are left out; a file that has more of them is something else.
  if (left > reader.size) return refused(`has ${left} lines that are no entries, the first of them line ${unread[0]}`)
  return { state: 'read', entries, size: reader.size, list: createNamedList(entries) }
}

function refused(reason: string): ListRead {
  return { state: 'refused', reason }
}
