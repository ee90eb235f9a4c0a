import { type Ban, DAY_MS } from '@sallyport/core'

/** Most bans that are kept; beyond it the soonest to end go. */
export const MAX_BANS = 100_000

/** Bans that are made between two sweeps: to sort a full list for each of them would take longer than all else. */
const SWEEP_EVERY = 1_000

/** A lift of a ban, as long as strikes before it could count. */
export interface Lift {
  readonly id: string
  readonly at: number
  readonly until: number
}

/** Window of strikes of a ban that an earlier version made. */
const WINDOW_MS = DAY_MS

/** Makes the lift of a ban, which differs from `before`, an earlier lift of the same id. A sliding window reads two of its length. */
export function makeLift({ id, windowMs = WINDOW_MS }: Ban, before: Lift | undefined, now: number): Lift {
  return { id, at: Math.max(now, (before?.at ?? 0) + 1), until: now + 2 * windowMs }
}

/** Returns the moment of a lift that is still needed. */
export function liftedAt(lift: Lift | undefined, now: number): number | undefined {
  return lift !== undefined && lift.until > now ? lift.at : undefined
}

/** How soon what another process or node wrote is seen here. */
export const LOOK_MS = 250

export interface KnownBansOptions {
  readonly now?: (() => number) | undefined
  /** Most bans that are kept; default 100,000. */
  readonly most?: number | undefined
}

/**
 * Creates the bans and lifts of a shared store as this process knows them. A ban that begins in the future was made by a clock that was
 * ahead, or the clock went back: it begins when that is noticed, and lasts as long as it was to last. `onRewound` takes it then.
 */
export function createKnownBans(
  { now = Date.now, most = MAX_BANS }: KnownBansOptions,
  onRewound: (ban: Ban) => void = () => {},
) {
  let bans = new Map<string, Ban>()
  let lifts = new Map<string, Lift>()
  let made = 0

  function rewound(ban: Ban): Ban {
    const time = now()
    if (ban.since <= time) return ban
    const moved = { ...ban, since: time, until: time + (ban.until - ban.since) }
    bans.set(ban.key, moved)
    onRewound(moved)
    return moved
  }

  return {
    find(key: string): Ban | undefined {
      const ban = bans.get(key)
      const held = ban && rewound(ban)
      return held !== undefined && held.until > now() ? held : undefined
    },
    /** Holds a ban here, even where it cannot be written; returns whether the store is to be swept too. */
    hold(ban: Ban): boolean {
      bans.set(ban.key, ban)
      const isDue = ++made % SWEEP_EVERY === 0
      if (isDue) for (const kept of [bans, lifts]) sweep(kept, now(), most)
      return isDue
    },
    forget({ id, key }: Ban, lift: Lift): void {
      bans.delete(key)
      lifts.set(id, lift)
    },
    lift: (id: string): Lift | undefined => lifts.get(id),
    /** Lists the bans that have not ended, the soonest to end first. */
    list(): readonly Ban[] {
      const held = [...bans.values()].map(rewound)
      return held.filter(({ until }) => until > now()).sort((x, y) => x.until - y.until)
    },
    /** Replaces all by what the store has. */
    replace(all: readonly Ban[], kept: readonly Lift[]): void {
      bans = new Map(all.map((ban) => [ban.key, ban]))
      lifts = new Map(kept.map((lift) => [lift.id, lift]))
    },
  }
}

/** Removes bans that have ended, and beyond `most` the soonest to end. */
function sweep(kept: Map<string, Pick<Ban, 'until'>>, now: number, most: number): void {
  for (const [key, { until }] of kept) if (until <= now) kept.delete(key)
  const surplus = kept.size - most
  if (surplus <= 0) return
  for (const [key] of [...kept].sort(([, x], [, y]) => x.until - y.until).slice(0, surplus)) kept.delete(key)
}
