import type { Accounts } from '#accounts'
import { type Lease, newLease, serves, take } from './lease.ts'
import { createLeaseKeeper } from './lease-keeper.ts'

/**
 * Counts the calls of a busy account in batches. The rule: a call is counted in the store, durably, before it is answered. So nothing that
 * was answered is ever lost and the limit is never passed, by any number of processes and whatever is killed; a killed process costs an
 * account at most the `MAX_CALLS` that it had reserved and not answered. What is not used is given back in at most twice `LEASE_MS`, which is
 * how late other processes see the count; an account that keeps calling stays busy.
 *
 * A limit that is reached is queried again after `LEASE_MS`: refused calls cost the store nothing. An account that is not busy reserves
 * nothing. For a busy one, batches double up to a part of what is left. Calls that wait at the same moment are one statement.
 *
 * `close` gives back what is reserved and not used. `onError` learns what could not be given back and stays counted.
 */
export function leaseCalls(
  accounts: Accounts,
  onError: (error: unknown) => void,
): Accounts & { close(): Promise<void> } {
  const leases = new Map<string, Lease>()
  const keeper = createLeaseKeeper(accounts, leases, onError)

  function findLease(accountId: string, windowId: string, limit: number): Lease {
    const known = leases.get(accountId)
    if (known !== undefined) return known
    const lease = newLease(accountId, windowId, limit)
    leases.set(accountId, lease)
    return lease
  }

  return {
    ...accounts,
    spend(accountId, windowId, limit, calls = 1) {
      if (calls !== 1) return accounts.spend(accountId, windowId, limit, calls)
      const lease = findLease(accountId, windowId, limit)
      if (!lease.asking && serves(lease, windowId, limit)) return Promise.resolve(take(lease))
      return new Promise((resolve, reject) => {
        lease.waiting.push({ windowId, limit, resolve, reject })
        if (!lease.asking) keeper.fill(lease)
      })
    },
    async refund(accountId, windowId, calls = 1) {
      const lease = leases.get(accountId)
      if (lease === undefined || lease.asking || lease.windowId !== windowId || lease.granted === 0) {
        if (lease?.windowId === windowId) lease.used -= calls
        return accounts.refund(accountId, windowId, calls)
      }
      const back = lease.unspent + calls
      if (back <= lease.granted) {
        lease.unspent = back
        return
      }
      // An earlier lease counted some of them, so all that is reserved goes back with them.
      Object.assign(lease, { granted: 0, unspent: 0, used: Math.max(0, lease.used - back) })
      await accounts.refund(accountId, windowId, back)
    },
    async usage(accountId, windowId) {
      const counted = await accounts.usage(accountId, windowId)
      const lease = leases.get(accountId)
      return lease === undefined || lease.windowId < windowId ? counted : Math.max(0, counted - lease.unspent)
    },
    close: keeper.close,
  }
}
