import type { Account, Accounts, StoredKey } from '@sallyport/accounts'
import { LRUCache } from 'lru-cache'

type Found = { readonly key: StoredKey; readonly account: Account }

/** The answer as it is given again, and when it was had. */
interface Remembered {
  readonly found: Promise<Found>
  readonly at: number
}

const MAX_KEYS = 10_000

/** How long a key that was found is not asked for again: so long can another process still take a revoked one. */
const FRESH_MS = 250

/** How long a key that was found is still good while the store does not answer. */
const OUTAGE_MS = 60_000

/**
 * Remembers keys that were found and are good; one that is not known is asked for every time. Those who ask for one key at
 * once share one question. What this process itself revokes or changes is forgotten at once. `now`: milliseconds of a
 * clock that is never set back.
 */
export function rememberKeys(accounts: Accounts, now: () => number = () => performance.now()): Accounts {
  const keys = new LRUCache<string, Remembered>({ max: MAX_KEYS })
  /** Questions that are under way; one that was asked before a change is not here any more. */
  const asking = new Map<string, Promise<Found | undefined>>()

  function ask(id: string, known: Remembered | undefined): Promise<Found | undefined> {
    const underWay = asking.get(id)
    if (underWay !== undefined) return underWay
    const at = now()
    /** Whether the answer is still to be remembered. */
    const ends = () => asking.get(id) === answer && asking.delete(id)
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
    asking.set(id, answer)
    return answer
  }

  function forget(id: string): void {
    keys.delete(id)
    asking.delete(id)
  }

  function forgetAll(): void {
    keys.clear()
    asking.clear()
  }

  async function forgetting<T>(change: Promise<T>, forget: () => void): Promise<T> {
    try {
      return await change
    } finally {
      // After the change as well as after an error: nobody knows whether that was carried out.
      forget()
    }
  }

  return {
    ...accounts,
    findKey(id) {
      const known = keys.get(id)
      return known !== undefined && now() - known.at < FRESH_MS ? known.found : ask(id, known)
    },
    revokeKey: (id, at) => forgetting(accounts.revokeKey(id, at), () => forget(id)),
    replaceKey: (id, next) => forgetting(accounts.replaceKey(id, next), () => forget(id)),
    setPlan: (id, plan) => forgetting(accounts.setPlan(id, plan), forgetAll),
  }
}
