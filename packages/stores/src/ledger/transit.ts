import type { Draft, StoredRecord } from '@sallyport/ledger'

/**
 * Drafts on their way to the thread that writes: flat lists of texts and numbers are handed over several times as fast
 * as objects with names and byte arrays.
 */
export interface PackedDrafts {
  /** Log, front, middle, back, and of the subject address, salt (one character a byte) and context. */
  readonly texts: readonly string[]
  readonly times: Float64Array
}

const TEXTS = 7

export function packDrafts(drafts: readonly Draft[]): PackedDrafts {
  const texts: string[] = []
  const times = new Float64Array(drafts.length)
  for (const [index, { log, at, front, middle, back, subject }] of drafts.entries()) {
    times[index] = at
    texts.push(log, front, middle, back)
    if (subject === undefined) texts.push('', '', '')
    else texts.push(subject.address, Buffer.from(subject.salt).toString('latin1'), subject.context ?? '')
  }
  return { texts, times }
}

/** A salt is never empty and a context is JSON, so an empty text says that there is none. */
export function unpackDrafts({ texts, times }: PackedDrafts): readonly Draft[] {
  return Array.from(times, (at, index): Draft => {
    const [log = '', front = '', middle = '', back = '', address = '', salt = '', context = ''] = texts.slice(
      index * TEXTS,
      (index + 1) * TEXTS,
    )
    const draft = { log, at, front, middle, back }
    if (salt === '') return draft
    const subject = { address, salt: Buffer.from(salt, 'latin1') }
    return { ...draft, subject: context === '' ? subject : { ...subject, context } }
  })
}

/** Records on their way back, one behind the other in one piece of memory. */
export interface PackedRecords {
  readonly ids: Float64Array
  readonly positions: Float64Array
  /** Where each record ends. */
  readonly ends: Float64Array
  readonly bytes: Uint8Array
}

export function packRecords(records: readonly Omit<StoredRecord, 'log'>[]): PackedRecords {
  const ends = new Float64Array(records.length)
  let end = 0
  for (const [index, { bytes }] of records.entries()) {
    end += bytes.length
    ends[index] = end
  }
  return {
    ids: Float64Array.from(records, ({ attestationId }) => attestationId),
    positions: Float64Array.from(records, ({ seq }) => seq),
    ends,
    // A copy of its own: memory of the pool would be handed over whole.
    bytes: new Uint8Array(Buffer.concat(records.map(({ bytes }) => bytes))),
  }
}

export function unpackRecords(log: string, { ids, positions, ends, bytes }: PackedRecords): readonly StoredRecord[] {
  return Array.from(ids, (attestationId, index) => ({
    log,
    attestationId,
    seq: positions[index] as number,
    bytes: bytes.subarray(ends[index - 1] ?? 0, ends[index]),
  }))
}
