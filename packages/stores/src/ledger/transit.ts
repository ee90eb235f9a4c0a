import { isAscii } from 'node:buffer'
import type { Draft, StoredRecord, Subject } from '@sallyport/ledger'

/**
 * Drafts on their way to the thread that writes: one long text and flat numbers are handed over several times as fast as
 * objects with names and byte arrays, or as many short texts.
 */
export interface PackedDrafts {
  /** For each draft a line each of log, front, middle, back, and of its subject the address and the context. */
  readonly text: string
  readonly times: Float64Array
  /** The salts of the subjects, one behind the other, and where each ends; one that ends where it begins is of none. */
  readonly salts: Uint8Array
  readonly saltEnds: Uint32Array
}

const LINES = 6

export function packDrafts(drafts: readonly Draft[]): PackedDrafts {
  const lines: string[] = []
  const salts: Uint8Array[] = []
  const times = new Float64Array(drafts.length)
  const saltEnds = new Uint32Array(drafts.length)
  let end = 0
  for (const [index, { log, at, front, middle, back, subject }] of drafts.entries()) {
    times[index] = at
    lines.push(log, front, middle, back, subject?.address ?? '', subject?.context ?? '')
    if (subject !== undefined) {
      salts.push(subject.salt)
      end += subject.salt.length
    }
    saltEnds[index] = end
  }
  // The last line ends too, so that no drafts are no lines.
  lines.push('')
  return { text: lines.join('\n'), times, salts: new Uint8Array(Buffer.concat(salts, end)), saltEnds }
}

/** Throws for a text with a line break of its own; JSON has none, names of logs and addresses neither. */
export function unpackDrafts({ text, times, salts, saltEnds }: PackedDrafts): readonly Draft[] {
  const lines = text.split('\n')
  if (lines.length !== times.length * LINES + 1) throw new Error('A draft has a line break.')
  let begin = 0
  return Array.from(times, (at, index): Draft => {
    const from = index * LINES
    const [log, front, middle, back, address, context] = lines.slice(from, from + LINES) as [
      ...[log: string, front: string, middle: string, back: string],
      ...[address: string, context: string],
    ]
    const salt = salts.subarray(begin, saltEnds[index])
    begin = saltEnds[index] as number
    const draft = { log, at, front, middle, back }
    if (salt.length === 0) return draft
    const subject = context === '' ? { address, salt } : { address, salt, context }
    return Object.assign(draft, { subject })
  })
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
