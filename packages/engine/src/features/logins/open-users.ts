import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import type { Settings } from '#settings'
import { openPostgresUsers } from './postgres-users.ts'
import { openRedisUsers } from './redis-users.ts'
import { openSqliteUsers } from './sqlite-users.ts'
import type { UserStore } from './user-store.ts'

/** Names the place of the users; `undefined` where nothing may be written. */
export function userPlace({ store, redis, dataDir, data }: Settings): string | undefined {
  if (store?.startsWith('postgres')) return store
  return redis ?? (data.readOnly ? undefined : `sqlite:${join(dataDir, 'logins.db')}`)
}

/** Opens the users of a configuration at the first use, and again where that failed. */
export function openUsers(config: Settings, now: () => number): UserStore {
  const url = userPlace(config)
  let opening: Promise<UserStore> | undefined

  async function open(): Promise<UserStore> {
    if (url === undefined) throw new SallyportError('service_unavailable', 'There is no store for logins of users.')
    if (url.startsWith('sqlite:')) return openSqliteUsers(url.slice('sqlite:'.length), now)
    return url.startsWith('postgres') ? openPostgresUsers(url, now) : openRedisUsers(url, now)
  }

  async function opened(): Promise<UserStore> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    read: async (key) => (await opened()).read(key),
    replace: async (...change) => (await opened()).replace(...change),
    erase: async (key) => (await opened()).erase(key),
    close: async () => (await opening?.catch(() => undefined))?.close(),
  }
}
