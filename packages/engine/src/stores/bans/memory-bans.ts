import type { BanList } from '@sallyport/core'
import { createKnownBans, liftedAt, liftOf } from './known-bans.ts'

/** The bans of this process alone, which ends with it. */
export function createMemoryBans(now: () => number = Date.now, most?: number): BanList {
  const known = createKnownBans({ now, most })
  return {
    find: known.find,
    async put(ban) {
      known.hold(ban)
    },
    async lift(id) {
      const ban = known.list().find((one) => one.id === id)
      if (ban === undefined) return false
      known.forget(ban, liftOf(ban, known.lift(id), now()))
      return true
    },
    liftedAt: (id) => liftedAt(known.lift(id), now()),
    list: async () => known.list(),
  }
}
