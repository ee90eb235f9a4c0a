import type { Head, Placed } from '@sallyport/ledger'
import type { SqlValue } from '../driver.ts'
import { type Block, lengthsOf, runsOf } from './record-blocks.ts'
import { type Area, SALT_BYTES } from './shared-records.ts'

/**
 * Placed records on their way to the thread that writes, as one text of lines: their bytes and the salts of their
 * subjects lie in shared memory. Blocks, then subjects, then nodes of the trees, then heads, each behind their count.
 */
export type PackedPlaced = string

/** A head that a transaction moves, from what it has to find. */
export interface Move {
  readonly log: string
  readonly before: Pick<Head, 'size' | 'link'>
  readonly head: Head
}

/** What the thread writes. */
export interface UnpackedPlaced {
  readonly blocks: readonly Block[]
  /** Row behind row: id, issued at, address, salt, context. */
  readonly subjects: readonly SqlValue[]
  readonly nodes: readonly Placed['nodes'][number][]
  readonly moves: readonly Move[]
}

/** `start` is where the memory of the records begins in its buffer; the heads are of the same logs, before and after. */
export function packPlaced(
  { records, nodes }: Placed,
  start: number,
  before: ReadonlyMap<string, Head>,
  after: ReadonlyMap<string, Head>,
): PackedPlaced {
  const runs = runsOf(records)
  let text = `${runs.length}\n`
  for (const run of runs) {
    const { log, attestationId, seq, bytes } = run[0] as (typeof run)[number]
    text += `${log}\n${attestationId}\n${seq}\n${lengthsOf(run)}\n${bytes.byteOffset - start}\n`
  }
  let subjects = ''
  let count = 0
  for (const { attestationId, issuedAt, subject } of records) {
    if (subject === undefined) continue
    count++
    subjects += `${attestationId}\n${issuedAt}\n${subject.address}\n${subject.context ?? ''}\n`
  }
  text += `${count}\n${subjects}${nodes.length}\n`
  for (const { log, tileLevel, index, hash } of nodes) text += `${log}\n${tileLevel}\n${index}\n${hexOf(hash)}\n`
  text += `${after.size}\n`
  for (const [log, { size, link, issuedAt, peaks }] of after) {
    const from = before.get(log) as Head
    text += `${log}\n${from.size}\n${from.link}\n${size}\n${link}\n${issuedAt}\n${hexOf(peaks)}\n`
  }
  return text
}

/** Throws for a text with a line break of its own, as `unpackDrafts` does. */
export function unpackPlaced(packed: PackedPlaced, { salts, records }: Area): UnpackedPlaced {
  const lines = packed.split('\n')
  let at = 0
  const text = () => lines[at++] as string
  const number = () => Number(text())
  const many = <T>(read: () => T): readonly T[] => Array.from({ length: number() }, read)
  const blocks = many((): Block => {
    const [log, firstId, firstSeq, lengths, start] = [text(), number(), number(), text(), number()]
    return { log, firstId, firstSeq, lengths, bytes: records.subarray(start, start + sumOf(lengths)) }
  })
  const subjects: SqlValue[] = []
  const count = number()
  for (let index = 0; index < count; index++) {
    const salt = salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES)
    subjects.push(number(), number(), text(), salt)
    const context = text()
    subjects.push(context === '' ? null : context)
  }
  const nodes = many(() => ({ log: text(), tileLevel: number(), index: number(), hash: bytesOfHex(text()) }))
  const moves = many(
    (): Move => ({
      log: text(),
      before: { size: number(), link: text() },
      head: { size: number(), link: text(), issuedAt: number(), peaks: bytesOfHex(text()) },
    }),
  )
  // The last line ends too.
  if (at !== lines.length - 1) throw new Error('A record has a line break.')
  return { blocks, subjects, nodes, moves }
}

function sumOf(lengths: string): number {
  return lengths.split(',').reduce((sum, length) => sum + Number(length), 0)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function bytesOfHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}
