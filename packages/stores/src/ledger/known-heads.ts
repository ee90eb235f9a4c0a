import type { Draft, Head } from '@sallyport/ledger'

/** Logs whose head is kept in memory between two transactions. */
const MOST_HEADS = 10_000

/**
 * Where a ledger and its logs end as our last append left them, which holds for as long as nobody else appends. It is
 * what records are placed on before their transaction begins, which then looks whether it was so.
 */
export interface KnownHeads {
  /** The id that the next record gets. */
  readonly nextId: number
  head(log: string): Head | undefined
  /** Whether records of these drafts can be placed: all heads are known, and nobody else is likely to come in. */
  cover(drafts: readonly Draft[]): boolean
  /** Goes on from where records have been placed. */
  follow(nextId: number, heads: ReadonlyMap<string, Head>): void
  /** Goes on from what the ledger has told about an append, which may have met others. */
  learn(firstId: number, nextId: number, heads: ReadonlyMap<string, Head>): void
  /** Of an append that failed nobody knows what it left. */
  forget(): void
}

export function createKnownHeads(): KnownHeads {
  let heads = new Map<string, Head>()
  let nextId = -1
  /** Whether the last that was learned of found the ledger as the one before it had left it. */
  let alone = false

  function set(next: number, moved: ReadonlyMap<string, Head>): void {
    nextId = next
    if (heads.size > MOST_HEADS) heads = new Map()
    for (const [log, head] of moved) heads.set(log, head)
  }

  return {
    get nextId() {
      return nextId
    },
    head: (log) => heads.get(log),
    cover: (drafts) => alone && drafts.every(({ log }) => heads.has(log)),
    follow: set,
    learn(firstId, next, moved) {
      alone = firstId === nextId
      if (!alone) heads = new Map()
      set(next, moved)
    },
    forget() {
      heads = new Map()
      nextId = -1
      alone = false
    },
  }
}
