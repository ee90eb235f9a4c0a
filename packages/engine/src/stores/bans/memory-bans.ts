import { type Ban, type BanList, DAY_MS } from '@sallyport/core'
import { createRewinding } from './wrong-clock.ts'

/** Most bans that are kept; of more, the soonest to end go. */
export const MAX_BANS = 100_000

/** Bans that are made between two sweeps: to sort a full list for each of them would take longer than all else. */
export const SWEEP_EVERY = 1_000

/** A lift of a ban, as long as strikes before it could count. */
export interface Lift {
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly until: number
}

/** Window of strikes of a ban that an earlier version made. */
const WINDOW_MS = DAY_MS

/** The lift of a ban; `before`: an earlier one of the same id, from which it differs. A sliding window reads two of its length. */
export function liftOf({ id, windowMs = WINDOW_MS }: Ban, before: Lift | undefined, now: number): Lift {
  return { id, at: Math.max(now, (before?.at ?? 0) + 1), until: now + 2 * windowMs }
}

/** The moment of a lift that is still needed. */
export function liftedAt(lift: Lift | undefined, now: number): number | undefined {
  return lift !== undefined && lift.until > now ? lift.at : undefined
}

/** The bans of this process alone, which ends with it. */
export function createMemoryBans(now: () => number = Date.now, most = MAX_BANS): BanList {
  const bans = new Map<string, Ban>()
  const lifts = new Map<string, Lift>()
  const { rewound } = createRewinding(now)
  let made = 0
  const rewind = (): void => {
    for (const [key, ban] of bans) if (ban.since > now()) bans.set(key, rewound(ban))
  }
  return {
    find(key) {
      const ban = bans.get(key)
      if (ban !== undefined && ban.since > now()) bans.set(key, rewound(ban))
      return inForce(bans.get(key), now())
    },
    async put(ban) {
      bans.set(ban.key, ban)
      if (++made % SWEEP_EVERY !== 0) return
      sweep(bans, now(), most)
      sweep(lifts, now(), most)
    },
    async lift(id) {
      rewind()
      const ban = listed(bans, now()).find((one) => one.id === id)
      if (ban === undefined) return false
      lifts.set(id, liftOf(ban, lifts.get(id), now()))
      return bans.delete(ban.key)
    },
    liftedAt: (id) => liftedAt(lifts.get(id), now()),
    async list() {
      rewind()
      return listed(bans, now())
    },
  }
}

/** A ban that has not ended. */
export function inForce(ban: Ban | undefined, now: number): Ban | undefined {
  return ban !== undefined && ban.until > now ? ban : undefined
}

/** Those that have not ended, the soonest to end first. */
export function listed(bans: ReadonlyMap<string, Ban>, now: number): readonly Ban[] {
  return [...bans.values()].filter((ban) => ban.until > now).sort((x, y) => x.until - y.until)
}

/** Removes those that have ended, and beyond `most` the soonest to end. */
export function sweep(kept: Map<string, Pick<Ban, 'until'>>, now: number, most: number): void {
  for (const [key, { until }] of kept) if (until <= now) kept.delete(key)
  const surplus = kept.size - most
  if (surplus <= 0) return
  for (const [key] of [...kept].sort(([, x], [, y]) => x.until - y.until).slice(0, surplus)) kept.delete(key)
}
