import { DAY_MS, isRecord, MEMORY_DAYS, rememberLogin, type Sighting, type UserMemory } from '@sallyport/core'
import type { UserStore } from './user-store.ts'

/** A user as its store had it. */
export interface RememberedUser {
  readonly key: string
  readonly text?: string | undefined
  readonly memory?: UserMemory | undefined
  /** The store did not answer. */
  readonly isAway: boolean
}

/** The memory of users. It never rejects: an outage refuses nobody. */
export type Users = ReturnType<typeof createUsers>

/** A login that others overtake so often is not remembered. */
const TRIES = 4

export function createUsers(store: Pick<UserStore, 'read' | 'replace'>) {
  async function read(key: string): Promise<RememberedUser> {
    try {
      const text = await store.read(key)
      return { key, isAway: false, ...(text !== undefined && { text, memory: parseMemory(text) }) }
    } catch {
      return { key, isAway: true }
    }
  }

  return {
    read,
    /** Adds a login to what was read, or to what another process wrote since. */
    async remember(first: RememberedUser, sighting: Sighting): Promise<void> {
      let user = first
      for (let at = 0; at < TRIES && !user.isAway; at++) {
        const { key, text, memory } = user
        const remembered = rememberLogin(memory, sighting)
        const next = JSON.stringify(remembered)
        if (next === text) return
        // A clock that went back ends no memory earlier.
        const last = Math.max(...remembered.networks.map(([, , day]) => day * DAY_MS))
        const until = Math.max(sighting.at, last) + MEMORY_DAYS * DAY_MS
        // An outage was reported by the store, and a login more or less is not worth a second try.
        if (await store.replace(key, text, next, until).catch(() => true)) return
        user = await read(key)
      }
    },
  }
}

/** Parses the memory of a user; `undefined` for a text of another version, which the next login replaces. */
function parseMemory(text: string): UserMemory | undefined {
  try {
    const memory: unknown = JSON.parse(text)
    const isWhole =
      isRecord(memory) && ['networks', 'countries', 'browsers'].every((name) => Array.isArray(memory[name]))
    return isWhole ? (memory as unknown as UserMemory) : undefined
  } catch {
    return undefined
  }
}
