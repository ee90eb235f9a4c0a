import { LRUCache } from 'lru-cache'
import type { Account, Accounts, StoredKey } from '#accounts'

type KeyOwner = { readonly key: StoredKey; readonly account: Account }

/** An answer, and when its query began. */
interface Remembered {
  readonly found: Promise<KeyOwner>
  readonly at: number
}

const MAX_KEYS = 10_000

/** How long a key is not queried again: for that long a process accepts a key that another has revoked. */
const FRESH_MS = 250

/** How long a key stays valid while the store does not answer. */
const OUTAGE_MS = 60_000

/**
 * Caches keys that the store knows and that are valid; any other is queried every time. Calls for one key at the same time share one query.
 * A key that this process revokes or changes is evicted at once. `now`: milliseconds of a monotonic clock.
 */
export function rememberKeys(accounts: Accounts, now: () => number = () => performance.now()): Accounts {
  const keys = new LRUCache<string, Remembered>({ max: MAX_KEYS })
  /** Queries under way; a change removes those that began before it. */
  const pending = new Map<string, Promise<KeyOwner | undefined>>()

  function query(id: string, known: Remembered | undefined): Promise<KeyOwner | undefined> {
    const running = pending.get(id)
    if (running !== undefined) return running
    const at = now()
    /** Whether no change has come since the query began. */
    const ends = () => pending.get(id) === answer && pending.delete(id)
    const answer = accounts.findKey(id).then(
      (found) => {
        if (!ends()) return found
        if (found === undefined || found.key.revokedAt !== undefined) keys.delete(id)
        else keys.set(id, { found: Promise.resolve(found), at })
        return found
      },
      (error: unknown) => {
        if (ends() && known !== undefined && at - known.at < OUTAGE_MS) return known.found
        throw error
      },
    )
    pending.set(id, answer)
    return answer
  }

  function forget(id: string): void {
    keys.delete(id)
    pending.delete(id)
  }

  function forgetAll(): void {
    keys.clear()
    pending.clear()
  }

  return {
    ...accounts,
    findKey(id) {
      const known = keys.get(id)
      return known !== undefined && now() - known.at < FRESH_MS ? known.found : query(id, known)
    },
    // A change that failed is forgotten as well: the store may have applied it.
    revokeKey: (id, at) => accounts.revokeKey(id, at).finally(() => forget(id)),
    replaceKey: (id, next) => accounts.replaceKey(id, next).finally(() => forget(id)),
    setPlan: (id, plan) => accounts.setPlan(id, plan).finally(forgetAll),
  }
}
