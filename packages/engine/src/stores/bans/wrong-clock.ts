import type { Ban } from '@sallyport/core'

/**
 * Bans as of the clock of now: one that begins in the future was made under a wrong clock, or the clock went back. It begins
 * when that is noticed, and lasts as long as it was to last.
 */
export interface Rewinding {
  /** The ban as it holds now. */
  rewound(ban: Ban): Ban
  /** Returns each ban of a store's rows as `rewound` does, by key, and forgets what is not among them. */
  rewoundAll(bans: readonly Ban[]): Map<string, Ban>
}

/** `onRewound` is called once for each ban that began in the future. */
export function createRewinding(now: () => number, onRewound: (ban: Ban) => void = () => {}): Rewinding {
  /** By id: when it was to begin, and the ban since it was noticed. */
  const known = new Map<string, { readonly since: number; readonly ban: Ban }>()

  function rewound(ban: Ban): Ban {
    const time = now()
    const before = known.get(ban.id)
    // Also once the clock has come to where it was to begin: else it would begin a second time.
    if (before?.since === ban.since && before.ban.since <= time) return before.ban
    if (ban.since <= time) return ban
    const moved = { ...ban, since: time, until: time + (ban.until - ban.since) }
    known.set(ban.id, { since: ban.since, ban: moved })
    onRewound(moved)
    return moved
  }

  return {
    rewound,
    rewoundAll(bans) {
      const ids = new Set(bans.map(({ id }) => id))
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
      return new Map(bans.map((ban) => [ban.key, rewound(ban)]))
    },
  }
}
