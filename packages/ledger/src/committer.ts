import { placeBatch } from './batch.ts'
import { type Batch, type Head, type Heads, type LedgerStore, LedgerUnavailable, type RecordPlace } from './ports.ts'
import type { Draft } from './record.ts'

/** Commits that are tried for one batch: more lost races are an outage. */
const MAX_ATTEMPTS = 20

/** Heads that are cached; one more empties the cache. */
const MAX_CACHED_HEADS = 10_000

export type Committer = ReturnType<typeof createCommitter>

/**
 * Appends to a ledger that other processes may append to as well, by optimistic sequencing: a batch is built on cached heads and committed
 * if the store still has them, else built again on heads that are read. While others keep winning, heads are read with a reservation.
 */
export function createCommitter(store: Pick<LedgerStore, 'origin' | 'heads' | 'commit'>) {
  const cache = new Map<string, Head>()
  let cachedNextId = -1
  let contended = false

  async function readHeads(names: readonly string[], fresh: boolean): Promise<Heads> {
    if (!fresh && !contended && names.every((name) => cache.has(name))) {
      return { nextId: cachedNextId, logs: new Map(names.map((name) => [name, cache.get(name) as Head])) }
    }
    const heads = await store.heads(names, contended)
    // Nobody else has committed since our last commit.
    if (heads.nextId === cachedNextId) contended = false
    return heads
  }

  function forget(): void {
    cache.clear()
    cachedNextId = -1
  }

  /** False when the race was lost. */
  async function commitOn(heads: Heads, batch: Batch): Promise<boolean> {
    try {
      if (!(await store.commit(batch, heads))) return false
    } catch (error) {
      forget()
      throw error
    }
    if (heads.nextId !== cachedNextId || cache.size > MAX_CACHED_HEADS) forget()
    for (const [name, head] of batch.heads) cache.set(name, head)
    cachedNextId = heads.nextId + batch.records.length
    return true
  }

  return {
    /**
     * Appends in order, all or none. With `expected`, nothing and `undefined` when that log has another size. Rejects
     * as the store does, and with LedgerUnavailable when other processes win every race.
     */
    async commit(
      drafts: readonly Draft[],
      expected?: { readonly log: string; readonly size: number },
    ): Promise<readonly RecordPlace[] | undefined> {
      const names = [...new Set([...drafts.map(({ log }) => log), ...(expected === undefined ? [] : [expected.log])])]
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const heads = await readHeads(names, expected !== undefined)
        if (expected !== undefined && (heads.logs.get(expected.log)?.size ?? 0) !== expected.size) return undefined
        const batch = placeBatch(store.origin, drafts, heads)
        if (await commitOn(heads, batch)) return batch.records.map(({ attestationId, seq }) => ({ attestationId, seq }))
        contended = true
      }
      throw new LedgerUnavailable(`Other processes committed first ${MAX_ATTEMPTS} times.`)
    },
  }
}
