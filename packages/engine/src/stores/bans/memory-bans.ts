import type { Ban, BanList } from '@sallyport/core'
import { createRewinding } from './wrong-clock.ts'

/** Most bans that are kept; of more, the soonest to end goes. */
export const MAX_BANS = 100_000

/** The bans of this process alone, which ends with it. */
export function createMemoryBans(now: () => number = Date.now): BanList {
  const bans = new Map<string, Ban>()
  const { rewound } = createRewinding(now)
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
      clear(bans, now())
      bans.set(ban.key, ban)
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

function clear(bans: Map<string, Ban>, now: number): void {
  if (bans.size < MAX_BANS) return
  for (const { key, until } of [...bans.values()]) if (until <= now) bans.delete(key)
  const [first] = bans.size < MAX_BANS ? [] : listed(bans, now)
  if (first !== undefined) bans.delete(first.key)
}
