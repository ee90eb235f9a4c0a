import { isAscii } from 'node:buffer'
import type { Draft, StoredRecord, Subject } from '@sallyport/ledger'
import { SALT_BYTES } from './shared-records.ts'

/**
 * Drafts on their way to the thread that writes, as one text: that is handed over several times as fast as anything with
 * members. First a line with the count of drafts, then their salts, a character a byte, then the lines of each.
 */
export type PackedDrafts = string

/** Of each draft: log, moment, front, middle, back, and of its subject the address and the context. */
const LINES = 7

export function packDrafts(drafts: readonly Draft[]): PackedDrafts {
  const salts = Buffer.alloc(drafts.length * SALT_BYTES)
  let lines = ''
  for (const [index, { log, at, front, middle, back, subject }] of drafts.entries()) {
    lines += `${log}\n${at}\n${front}\n${middle}\n${back}\n`
    if (subject === undefined) lines += '\n\n'
    else {
      if (subject.salt.length !== SALT_BYTES) throw new RangeError('A salt is 32 bytes long.')
      salts.set(subject.salt, index * SALT_BYTES)
      lines += `${subject.address}\n${subject.context ?? ''}\n`
    }
  }
  return `${drafts.length}\n${salts.toString('latin1')}${lines}`
}

/** Throws for a text with a line break of its own; JSON has none, names of logs and addresses neither. */
export function unpackDrafts(packed: PackedDrafts): readonly Draft[] {
  const countEnd = packed.indexOf('\n')
  const count = Number(packed.slice(0, countEnd))
  const saltsEnd = countEnd + 1 + count * SALT_BYTES
  const salts = Buffer.from(packed.slice(countEnd + 1, saltsEnd), 'latin1')
  const lines = packed.slice(saltsEnd).split('\n')
  // The last line ends too, so that no drafts are no lines.
  if (lines.length !== count * LINES + 1) throw new Error('A draft has a line break.')
  const drafts: Draft[] = []
  for (let index = 0; index < count; index++) {
    // Each member by itself: an object put together out of another takes ten times as long.
    const from = index * LINES
    const log = lines[from] as string
    const at = Number(lines[from + 1])
    const front = lines[from + 2] as string
    const middle = lines[from + 3] as string
    const back = lines[from + 4] as string
    const address = lines[from + 5] as string
    const context = lines[from + 6] as string
    if (address === '') drafts.push({ log, at, front, middle, back })
    else {
      const salt = salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES)
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

/** Subjects on their way back. */
export interface PackedSubjects {
  readonly ids: Float64Array
  readonly addresses: Pieces
  readonly salts: Pieces
  /** -1 is the length of one that is not there. */
  readonly contexts: Pieces
}

const NO_PIECES: Pieces = { lengths: new Float64Array(), bytes: new Uint8Array() }

export const NO_SUBJECTS: PackedSubjects = {
  ids: new Float64Array(),
  addresses: NO_PIECES,
  salts: NO_PIECES,
  contexts: NO_PIECES,
}

export function unpackSubjects({ ids, addresses, salts, contexts }: PackedSubjects): ReadonlyMap<number, Subject> {
  const addressAt = textReader(addresses)
  const contextAt = textReader(contexts)
  const subjects = new Map<number, Subject>()
  let end = 0
  for (let index = 0; index < ids.length; index++) {
    const start = end
    end += salts.lengths[index] as number
    const subject = { address: addressAt(index) as string, salt: salts.bytes.subarray(start, end) }
    const context = contextAt(index)
    subjects.set(ids[index] as number, context === undefined ? subject : { ...subject, context })
  }
  return subjects
}

/** Reads the texts one after the other; `undefined` for one that is not there. */
function textReader({ lengths, bytes }: Pieces): (index: number) => string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // To read all of them at once and cut them out is quicker, where a character is a byte.
  const all = isAscii(buffer) ? buffer.toString('latin1') : undefined
  let end = 0
  return (index) => {
    const length = lengths[index] as number
    if (length < 0) return undefined
    const start = end
    end += length
    return all === undefined ? buffer.toString('utf8', start, end) : all.slice(start, end)
  }
}
