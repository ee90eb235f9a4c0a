import type { KeySource } from './key-source.ts'

export type ReplayMemory = ReturnType<typeof createReplayMemory>

const MAX_REMEMBERED = 100_000
/** A full memory drops expired entries at most this often, because it holds a hundred thousand entries. */
const SWEEP_MS = 10_000

/**
 * Remembers which signatures were seen, so that a copy is noticed until the original has expired: `most` of known agents, and as many of
 * agents that visitors named, who can thus fill only their own part.
 */
export function createReplayMemory(most = MAX_REMEMBERED) {
  const [ofKnown, ofStrangers] = [createSide(most), createSide(most)]
  return {
    /** `full`: the agent signed more than the memory holds, so a copy of its signatures would not be noticed. */
    see: ({ identifier, stranger }: KeySource, id: string, until: number, now: number) =>
      (stranger ? ofStrangers : ofKnown)(identifier, id, until, now),
  }
}

/** Holds the signatures of one agent. One that filled the memory is `full` until all its remembered signatures have expired. */
interface Share {
  readonly seen: Map<string, number>
  fullUntil: number
}

function createSide(most: number) {
  const shares = new Map<string, Share>()
  let size = 0
  let nextSweep = 0

  function sweep(now: number): void {
    if (now < nextSweep) return
    nextSweep = now + SWEEP_MS
    for (const [agent, { seen, fullUntil }] of shares) {
      for (const [id, until] of seen) if (until <= now && seen.delete(id)) size--
      if (seen.size === 0 && fullUntil <= now) shares.delete(agent)
    }
  }

  /** Forgets the signatures of the agent with most of them: only its copies could pass, and its signatures are `full` until none can. */
  function closeLargest(): void {
    const [first, ...others] = shares.values()
    const largest = others.reduce((most, share) => (share.seen.size > most.seen.size ? share : most), first as Share)
    size -= largest.seen.size
    for (const until of largest.seen.values()) largest.fullUntil = Math.max(largest.fullUntil, until)
    largest.seen.clear()
  }

  return (agent: string, id: string, until: number, now: number): 'new' | 'seen' | 'full' => {
    const share = shares.get(agent) ?? { seen: new Map(), fullUntil: 0 }
    if (share.fullUntil > now) return 'full'
    const known = share.seen.get(id)
    if (known !== undefined && known > now) return 'seen'
    if (size >= most) sweep(now)
    if (size >= most) closeLargest()
    if (share.fullUntil > now) return 'full'
    shares.set(agent, share)
    if (!share.seen.has(id)) size++
    share.seen.set(id, until)
    return 'new'
  }
}
