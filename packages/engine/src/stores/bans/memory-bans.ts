import type { Ban, BanList } from '@sallyport/core'
import { createRewinding } from './wrong-clock.ts'

/** Most bans that are kept; of more, the soonest to end go. */
export const MAX_BANS = 100_000

/** Bans that are made between two sweeps: to sort a full list for each of them would take longer than all else. */
export const SWEEP_EVERY = 1_000

/** The bans of this process alone, which ends with it. */
export function createMemoryBans(now: () => number = Date.now, most = MAX_BANS): BanList {
  const bans = new Map<string, Ban>()
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
      if (++made % SWEEP_EVERY === 0) sweep(bans, now(), most)
    },
    async lift(id) {
      rewind()
      const ban = listed(bans, now()).find((one) => one.id === id)
      return ban !== undefined && bans.delete(ban.key)
    },
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
export function sweep(bans: Map<string, Ban>, now: number, most: number): void {
  for (const [key, { until }] of bans) if (until <= now) bans.delete(key)
  const surplus = bans.size - most
  if (surplus <= 0) return
  for (const { key } of listed(bans, now).slice(0, surplus)) bans.delete(key)
}
