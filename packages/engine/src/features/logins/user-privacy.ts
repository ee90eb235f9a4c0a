import { errorText, foldSpelling, MEMORY_DAYS } from '@sallyport/core'
import type { Settings } from '#settings'
import { createNameHash } from './hash-names.ts'
import { openUsers, userPlace } from './open-users.ts'

/** An answer to a request of one user: the entries that are kept, or were erased. */
export interface UserPrivacy {
  /** False where the store did not answer. */
  readonly complete: boolean
  readonly places: readonly {
    readonly place: string
    readonly where: string
    readonly kept: string
    readonly state: 'read' | 'erased' | 'unreachable'
    readonly reason?: string | undefined
    readonly entries: readonly unknown[]
    readonly erased: number
  }[]
}

/** Exports or erases what is remembered of a user, by the application's id or by an identifier. */
export async function visitUser(config: Settings, name: string, task: 'export' | 'erase'): Promise<UserPrivacy> {
  const url = userPlace(config) ?? 'nowhere'
  const where = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : (url.split(':', 1)[0] ?? '')
  const place = { place: 'logins', where, kept: `${MEMORY_DAYS} days after the last login` }
  const hash = createNameHash(config)
  const store = openUsers(config, Date.now)
  const visit = async (key: string): Promise<readonly unknown[]> => {
    if (task === 'erase') return (await store.erase(key)) ? [key] : []
    const text = await store.read(key)
    return text === undefined ? [] : [JSON.parse(text) as unknown]
  }
  try {
    const keys = [hash('user', name), hash('identifier', foldSpelling(name))]
    const entries = (await Promise.all(keys.map(visit))).flat()
    const erased = { ...place, state: 'erased', entries: [], erased: entries.length } as const
    return { complete: true, places: [task === 'erase' ? erased : { ...place, state: 'read', entries, erased: 0 }] }
  } catch (error) {
    const reason = errorText(error)
    return { complete: false, places: [{ ...place, state: 'unreachable', reason, entries: [], erased: 0 }] }
  } finally {
    await store.close()
  }
}
