/** Remembers which signatures were seen, so that a copy is noticed until the original has expired. */
export interface ReplayMemory {
  /** `full`: too much is remembered already to add this one, so a copy of it would not be noticed. */
  see(id: string, until: number, now: number): 'new' | 'seen' | 'full'
}

export const MAX_REMEMBERED = 100_000
/** A full memory is searched for what has expired at most this often: it holds a hundred thousand entries. */
const SWEEP_MS = 10_000

export function createReplayMemory(most = MAX_REMEMBERED): ReplayMemory {
  const seen = new Map<string, number>()
  let nextSweep = 0

  function sweep(now: number): void {
    if (now < nextSweep) return
    nextSweep = now + SWEEP_MS
    for (const [id, until] of seen) if (until <= now) seen.delete(id)
  }

  return {
    see(id, until, now) {
      const known = seen.get(id)
      if (known !== undefined && known > now) return 'seen'
      // Never by throwing out another: its copy could then pass as the first.
      if (seen.size >= most) sweep(now)
      if (seen.size >= most) return 'full'
      seen.set(id, until)
      return 'new'
    },
  }
}
