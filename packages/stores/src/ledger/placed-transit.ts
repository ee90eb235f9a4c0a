import type { Batch, Head, Placed } from '@sallyport/ledger'
import { bytesOfHex, hexOf } from './hex.ts'
import { type Block, lengthsOf, linkOf, runsOf } from './record-blocks.ts'
import { type SubjectBlock, subjectBlockOf } from './subject-lines.ts'

/**
 * Placed records on their way to the thread that writes, as one text of lines: their bytes lie in shared memory. Blocks,
 * then blocks of subjects, then nodes of the trees, then heads, each behind their count.
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
  readonly subjects: readonly SubjectBlock[]
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
    text += `${log}\n${attestationId}\n${seq}\n${lengthsOf(run)}\n${linkOf(run)}\n`
    text += `${bytes.byteOffset - start}\n${end.byteOffset + end.length - start}\n`
  }
  const subjects = runs.flatMap((run) => subjectBlockOf(run) ?? [])
  text += `${subjects.length}\n`
  for (const { firstId, oldest, lines } of subjects) text += `${firstId}\n${oldest}\n${lines.length}\n${lines}`
  text += `${nodes.length}\n`
  for (const { log, tileLevel, index, hash } of nodes) text += `${log}\n${tileLevel}\n${index}\n${hexOf(hash)}\n`
  text += `${heads.size}\n`
  for (const [log, { size, link, issuedAt, peaks }] of heads) {
    const from = before.get(log) as Head
    text += `${log}\n${from.size}\n${from.link}\n${size}\n${link}\n${issuedAt}\n${hexOf(peaks)}\n`
  }
  return text
}

/** `records` is the memory that they lie in. Throws for a text that is not one of `packPlaced`. */
export function unpackPlaced(packed: PackedPlaced, records: Buffer): UnpackedPlaced {
  let at = 0
  const piece = (length: number) => {
    const start = at
    at += length
    if (length < 0 || at > packed.length) throw new Error('A transaction ends before its end.')
    return packed.slice(start, at)
  }
  const text = () => {
    const line = piece(packed.indexOf('\n', at) - at)
    at++
    return line
  }
  const number = () => Number(text())
  const many = <T>(read: () => T): readonly T[] => Array.from({ length: number() }, read)
  const blocks = many((): Block => {
    const place = { log: text(), firstId: number(), firstSeq: number(), lengths: text(), link: text() }
    return { ...place, bytes: records.subarray(number(), number()) }
  })
  const subjects = many((): SubjectBlock => ({ firstId: number(), oldest: number(), lines: piece(number()) }))
  const nodes = many(() => ({ log: text(), tileLevel: number(), index: number(), hash: bytesOfHex(text()) }))
  const moves = many(
    (): Move => ({
      log: text(),
      before: { size: number(), link: text() },
      head: { size: number(), link: text(), issuedAt: number(), peaks: bytesOfHex(text()) },
    }),
  )
  if (at !== packed.length) throw new Error('A transaction goes on behind its end.')
  return { blocks, subjects, nodes, moves }
}
