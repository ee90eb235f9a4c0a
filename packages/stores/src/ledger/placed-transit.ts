import type { Batch, Head, Placed } from '@sallyport/ledger'
import type { SqlValue } from '../driver.ts'
import { type Block, lengthsOf, runsOf } from './record-blocks.ts'
import type { Area } from './shared-records.ts'

/**
 * Placed records on their way to the thread that writes, as one text of lines: their bytes and the salts of their
 * subjects lie in shared memory. Blocks, then moment and subject of each record, then nodes of the trees, then heads, each
 * behind their count.
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

/** `start` is where the memory of the records begins in its buffer; `before` has the heads as they were. */
export function packPlaced(
  { records, nodes, heads }: Batch,
  start: number,
  before: ReadonlyMap<string, Head>,
): PackedPlaced {
  const runs = runsOf(records)
  let text = `${runs.length}\n`
  for (const run of runs) {
    const { log, attestationId, seq, bytes } = run[0] as (typeof run)[number]
    const { bytes: end } = run[run.length - 1] as (typeof run)[number]
    text += `${log}\n${attestationId}\n${seq}\n${lengthsOf(run)}\n`
    text += `${bytes.byteOffset - start}\n${end.byteOffset + end.length - start}\n`
  }
  text += `${records.length}\n`
  let moment = Number.NaN
  for (const { issuedAt, subject } of records) {
    // Neighbours mostly are of one millisecond.
    text += `${issuedAt === moment ? '' : issuedAt}\n${subject?.address ?? ''}\n${subject?.context ?? ''}\n`
    moment = issuedAt
  }
  text += `${nodes.length}\n`
  for (const { log, tileLevel, index, hash } of nodes) text += `${log}\n${tileLevel}\n${index}\n${hexOf(hash)}\n`
  text += `${heads.size}\n`
  for (const [log, { size, link, issuedAt, peaks }] of heads) {
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
    const place = { log: text(), firstId: number(), firstSeq: number(), lengths: text() }
    return { ...place, bytes: records.subarray(number(), number()) }
  })
  const subjects: SqlValue[] = []
  const count = number()
  const firstId = blocks[0]?.firstId ?? 0
  let issuedAt = 0
  for (let index = 0; index < count; index++) {
    const moment = text()
    if (moment !== '') issuedAt = Number(moment)
    const address = text()
    const context = text()
    if (address !== '')
      subjects.push(firstId + index, issuedAt, address, salts[index] as Uint8Array, context === '' ? null : context)
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

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function bytesOfHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}
