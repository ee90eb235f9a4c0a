import type { Draft, StoredRecord } from '@sallyport/ledger'

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
