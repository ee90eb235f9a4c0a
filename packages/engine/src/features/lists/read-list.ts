import { readFile, stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import {
  counted,
  createListReader,
  errorCode,
  type ListEntries,
  type ListFormat,
  linesOfList,
  type NamedList,
  namedListSteps,
} from '@sallyport/core'
import { readFault } from '#files'

/** A list that was read whole, or one sentence about why not, without its subject. */
export type ListRead =
  | {
      readonly state: 'read'
      readonly entries: ListEntries
      readonly size: number
      readonly list: NamedList
      /** Why it could not be asked for again, where this is what is left of the last answer. */
      readonly outdated?: string | undefined
    }
  | { readonly state: 'refused'; readonly reason: string }

export type WholeRead = Extract<ListRead, { state: 'read' }>

/** Bytes of a list. */
export const MAX_BYTES = 32 * 2 ** 20
const MAX_ENTRIES = 1_000_000
const MAX_LINES = 2_000_000
/** Work after which requests have their turn, in lines: some milliseconds. */
const WORK_A_TURN = 2_000

/** The file's time, size and identity, which another content changes; `undefined` where there is none. */
export async function stampOf(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`
}

/** Reads a file as a list, which is guarded unless it is `wide`. */
export async function readListFile(path: string, format: ListFormat, wide = false): Promise<ListRead> {
  try {
    const fault = readFault(path)
    if (fault !== undefined) return refused(fault)
    const stats = await stat(path)
    if (stats.size > MAX_BYTES) return refused(TOO_LARGE)
    return await readListBytes(await readFile(path), format, wide)
  } catch (error) {
    const code = errorCode(error)
    return refused(code === 'ENOENT' ? 'is not there' : `cannot be read: ${code}`)
  }
}

const TOO_LARGE = `is larger than ${MAX_BYTES / 2 ** 20} MB`

/** Texts that Windows writes begin so. */
const UTF_16 = [
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
]

/** Reads a list in steps, between which requests are answered. */
export async function readListBytes(bytes: Uint8Array, format: ListFormat, wide = false): Promise<ListRead> {
  if (bytes.length > MAX_BYTES) return refused(TOO_LARGE)
  const mark16 = UTF_16.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))
  if (mark16 === undefined && bytes.includes(0)) return refused('is binary, and not a text with an entry a line')
  const text = new TextDecoder(mark16?.encoding).decode(bytes)
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(text)) return refused('is a web page, and not a list')
  const lines = linesOfList(text, format)
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
  // Some bad lines are left out; a file that has more of them is something else.
  if (left > size + withheldCount) {
    const lines = counted(left, 'line that is not an entry', 'lines that are not entries')
    return refused(`has ${lines}, the first of them line ${unread[0]}`)
  }
  const steps = namedListSteps(entries, guard)
  let step = steps.next()
  for (; !step.done; step = steps.next()) await turn()
  return { state: 'read', entries, size, list: step.value }
}

function refused(reason: string): ListRead {
  return { state: 'refused', reason }
}
