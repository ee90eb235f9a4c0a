import type { BanList } from '@sallyport/core'
import { createKnownBans, liftedAt, makeLift } from './known-bans.ts'

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
      known.forget(ban, makeLift(ban, known.lift(id), now()))
      return true
    },
    liftedAt: (id) => liftedAt(known.lift(id), now()),
    list: async () => known.list(),
  }
}
