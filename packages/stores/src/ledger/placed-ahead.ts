import { createRecordMemory, type Draft, type Head, mostBytesOf, type Place, placeBatch } from '@sallyport/ledger'
import { createKnownHeads, type KnownHeads } from './known-heads.ts'
import { type PackedPlaced, packPlaced } from './placed-transit.ts'
import { areasOf, MOST_RECORDS, type SharedRecords } from './shared-records.ts'

/** Records whose places hold if the ledger ends where it was thought to. */
export interface PlacedAhead {
  readonly places: readonly Place[]
  /** For the thread that writes: where the records lie, and all else of the transaction. */
  readonly area: number
  readonly packed: PackedPlaced
}

/** Places the records of a transaction before it begins, in memory that is shared with the thread that writes. */
export interface AheadPlacer extends Pick<KnownHeads, 'learn' | 'forget'> {
  /** `undefined` where too little is known, or there is no room. */
  place(drafts: readonly Draft[]): PlacedAhead | undefined
}

export function createAheadPlacer(origin: string, shared: SharedRecords): AheadPlacer {
  const known = createKnownHeads()
  const areas = areasOf(shared).map((records, index) => ({ records, index, given: 0 }))

  return {
    learn: known.learn,
    forget: known.forget,
    place(drafts) {
      if (!known.cover(drafts)) return undefined
      const area = areas.find(({ index, given }) => Atomics.load(shared.done, index) === given)
      if (area === undefined || !fits(drafts, area.records.length)) return undefined
      const before = new Map<string, Head>()
      const headOf = (log: string) => {
        const head = known.head(log) as Head
        before.set(log, head)
        return head
      }
      const batch = placeBatch(origin, known.nextId, drafts, headOf, createRecordMemory(once(area.records)))
      // What cannot be packed has taken nothing yet.
      const packed = packPlaced(batch, area.records.byteOffset, before)
      known.follow(batch.nextId, batch.heads)
      // Of as many bits as the count in shared memory has.
      area.given = (area.given + 1) | 0
      return {
        places: batch.records.map(({ attestationId, seq }) => ({ attestationId, seq })),
        area: area.index,
        packed,
      }
    },
  }
}

/** Gives a piece of memory, and never again: records would be written over those that lie in it. */
function once(piece: Buffer): () => Buffer {
  let given = false
  return () => {
    if (given) throw new RangeError('Records are longer than was reckoned with.')
    given = true
    return piece
  }
}

function fits(drafts: readonly Draft[], bytes: number): boolean {
  return drafts.length <= MOST_RECORDS && drafts.reduce((sum, draft) => sum + mostBytesOf(draft), 0) <= bytes
}
