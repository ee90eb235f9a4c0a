import { isAscii } from 'node:buffer'
import type { Draft, StoredRecord, Subject } from '@sallyport/ledger'
import { bytesOfHex, hexOf } from './hex.ts'
import { linesOf, readLine } from './subject-lines.ts'

/**
 * Drafts on their way to the thread that writes, as one text of lines: that is handed over several times as fast as
 * anything with members. The first says how many they are.
 */
export type PackedDrafts = string

/** Of each draft: log, moment, front, middle, back, and of its subject the address, the salt and the context. */
const LINES = 8

export function packDrafts(drafts: readonly Draft[]): PackedDrafts {
  let lines = `${drafts.length}\n`
  for (const { log, at, front, middle, back, subject } of drafts) {
    lines += `${log}\n${at}\n${front}\n${middle}\n${back}\n`
    lines += subject === undefined ? '\n\n\n' : `${subject.address}\n${hexOf(subject.salt)}\n${subject.context ?? ''}\n`
  }
  return lines
}

/** Throws for a text with a line break of its own; JSON has none, names of logs and addresses neither. */
export function unpackDrafts(packed: PackedDrafts): readonly Draft[] {
  const lines = packed.split('\n')
  const count = Number(lines[0])
  // The last line ends too.
  if (lines.length !== 1 + count * LINES + 1) throw new Error('A draft has a line break.')
  const drafts: Draft[] = []
  for (let from = 1; from <= count * LINES; from += LINES) {
    // Each member by itself: an object put together out of another takes ten times as long.
    const log = lines[from] as string
    const at = Number(lines[from + 1])
    const front = lines[from + 2] as string
    const middle = lines[from + 3] as string
    const back = lines[from + 4] as string
    const address = lines[from + 5] as string
    if (address === '') drafts.push({ log, at, front, middle, back })
    else {
      const salt = bytesOfHex(lines[from + 6] as string)
      const context = lines[from + 7] as string
      const subject = context === '' ? { address, salt } : { address, salt, context }
      drafts.push({ log, at, front, middle, back, subject })
    }
  }
  return drafts
}

/** Records on their way back, one behind the other in one piece of memory. */
export interface PackedRecords {
  readonly ids: Float64Array
  readonly positions: Float64Array
  readonly lengths: Float64Array
  readonly bytes: Uint8Array
}

export const NO_RECORDS: PackedRecords = {
  ids: new Float64Array(),
  positions: new Float64Array(),
  lengths: new Float64Array(),
  bytes: new Uint8Array(),
}

export function unpackRecords(log: string, packed: PackedRecords): readonly StoredRecord[] {
  const { ids, positions, lengths, bytes } = packed
  let end = 0
  return Array.from(ids, (attestationId, index): StoredRecord => {
    const start = end
    end += lengths[index] as number
    return { log, attestationId, seq: positions[index] as number, bytes: bytes.subarray(start, end) }
  })
}

/** Pieces of so many bytes, one behind the other. */
export interface Pieces {
  readonly lengths: Float64Array
  readonly bytes: Uint8Array
}

/**
 * Memory that an answer hands over instead of having it copied twice: that of records, where it is a piece of its own
 * and nothing else lies in it.
 */
export function memoryOf(answer: unknown): ArrayBuffer[] {
  const bytes = typeof answer === 'object' && answer !== null && 'bytes' in answer ? answer.bytes : undefined
  if (!(bytes instanceof Uint8Array) || !(bytes.buffer instanceof ArrayBuffer)) return []
  return bytes.length > 0 && bytes.length === bytes.buffer.byteLength ? [bytes.buffer] : []
}

/** Blocks of subjects on their way back: the id of the first record of each, and its lines. */
export interface PackedSubjects {
  readonly firstIds: Float64Array
  readonly lines: Pieces
}

export const NO_SUBJECTS: PackedSubjects = {
  firstIds: new Float64Array(),
  lines: { lengths: new Float64Array(), bytes: new Uint8Array() },
}

/** Ids as a JSON object: of each stretch in which they rise by one, the last by the first. */
export type PackedSpans = string

export function packSpans(ids: readonly number[]): PackedSpans {
  let text = ''
  let last = Number.NaN
  for (const id of ids) {
    if (id !== last + 1) text += text === '' ? `{"${id}":` : `${last},"${id}":`
    last = id
  }
  return text === '' ? '{}' : `${text}${last}}`
}

/** Those of these records, by id. */
export function unpackSubjects(
  { firstIds, lines }: PackedSubjects,
  attestationIds: readonly number[],
): ReadonlyMap<number, Subject> {
  const asked = new Set(attestationIds)
  const subjects = new Map<number, Subject>()
  const textAt = textReader(lines)
  for (let block = 0; block < firstIds.length; block++) {
    let id = firstIds[block] as number
    for (const line of linesOf(textAt(block))) {
      const read = asked.has(id) ? readLine(line) : undefined
      if (read !== undefined) subjects.set(id, read.subject)
      id++
    }
  }
  return subjects
}

/** Reads the texts one after the other. */
function textReader({ lengths, bytes }: Pieces): (index: number) => string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // To read all of them at once and cut them out is quicker, where a character is a byte.
  const all = isAscii(buffer) ? buffer.toString('latin1') : undefined
  let end = 0
  return (index) => {
    const length = lengths[index] as number
    const start = end
    end += length
    return all === undefined ? buffer.toString('utf8', start, end) : all.slice(start, end)
  }
}
