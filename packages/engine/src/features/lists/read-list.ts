import { readFile, stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import {
  counted,
  createListReader,
  errorCode,
  type ListEntries,
  type ListFormat,
  type NamedList,
  namedListSteps,
  splitList,
} from '@sallyport/core'
import { readFault } from '#files'

/** Holds a complete list, or one sentence about the failure, without its subject. */
export type ListRead =
  | {
      readonly state: 'read'
      readonly entries: ListEntries
      readonly size: number
      readonly list: NamedList
      /** Says why the request failed, if these are the remaining entries of the last response. */
      readonly outdated?: string | undefined
    }
  | { readonly state: 'refused'; readonly reason: string }

export type WholeRead = Extract<ListRead, { state: 'read' }>

/** Counts the bytes that a list may have. */
export const MAX_BYTES = 32 * 2 ** 20
const MAX_ENTRIES = 1_000_000
const MAX_LINES = 2_000_000
/** After this many lines, which take some milliseconds, waiting requests are handled. */
const WORK_A_TURN = 2_000

/** Returns the file's time, size and identity, which change with its content; `undefined` if there is no file. */
export async function stampFile(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`
}

/** Reads a file as a list, which is guarded unless `wide` is true. */
export async function readListFile(path: string, format: ListFormat, wide = false): Promise<ListRead> {
  try {
    const fault = readFault(path)
    if (fault !== undefined) return refused(fault)
    const stats = await stat(path)
    if (stats.size > MAX_BYTES) return refused(TOO_LARGE)
    return await readListBytes(await readFile(path), format, wide)
  } catch (error) {
    const code = errorCode(error)
    return refused(code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`)
  }
}

const TOO_LARGE = `is larger than ${MAX_BYTES / 2 ** 20} MB`

/** Texts that Windows writes begin with these marks. */
const UTF_16 = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
]

/** Reads a list in steps, between which the process handles requests. */
export async function readListBytes(bytes: Uint8Array, format: ListFormat, wide = false): Promise<ListRead> {
  if (bytes.length > MAX_BYTES) return refused(TOO_LARGE)
  const mark16 = UTF_16.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))
  if (mark16 === undefined && bytes.includes(0)) return refused('is binary, not text with one entry per line')
  const text = new TextDecoder(mark16?.encoding).decode(bytes)
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return refused('is a web page, not a list')
  const lines = splitList(text, format)
  if (lines !== undefined) return readListLines(lines, wide)
  return refused(`is not ${format === 'csv' ? 'CSV' : 'JSON of at most 8 MB'} with entries`)
}

export async function readListLines(lines: Iterable<string>, wide = false): Promise<ListRead> {
  const guard = { isGuarded: !wide }
  const reader = createListReader(guard)
  let taken = 0
  let due = WORK_A_TURN
  try {
    for (const line of lines) {
      reader.take(line)
      if (reader.size > MAX_ENTRIES) return refused(`has more than ${MAX_ENTRIES} entries`)
      if (++taken > MAX_LINES) return refused(`has more than ${MAX_LINES} lines`)
      if (reader.work < due) continue
      await turn()
      due = reader.work + WORK_A_TURN
    }
  } catch (error) {
    if (error instanceof RangeError) return refused('is nested too deeply')
    throw error
  }
  const entries = reader.entries()
  const { left, unread, withheldCount } = entries
  const size = entries.addresses.length + entries.systems.length + entries.texts.length
  // A few bad lines are skipped; a file with more of them is not a list.
  if (left > size + withheldCount) {
    const lines = counted(left, 'invalid line', 'invalid lines')
    return refused(`has ${lines}, first at line ${unread[0]}`)
  }
  const steps = namedListSteps(entries, guard)
  let step = steps.next()
  for (; !step.done; step = steps.next()) await turn()
  return { state: 'read', entries, size, list: step.value }
}

function refused(reason: string): ListRead {
  return { state: 'refused', reason }
}
