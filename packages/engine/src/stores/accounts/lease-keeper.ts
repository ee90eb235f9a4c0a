import type { Accounts } from '#accounts'
import { grant, LEASE_MS, type Lease, nextBatch, serves, take } from './lease.ts'

/** Creates a keeper of `leases`: it reserves calls in the store, and refunds those that are not used for `LEASE_MS`. */
export function createLeaseKeeper(accounts: Accounts, leases: Map<string, Lease>, onError: (error: unknown) => void) {
  const underWay = new Set<Promise<void>>()

  function track(work: Promise<void>): void {
    const done = work.finally(() => underWay.delete(done))
    underWay.add(done)
  }

  const giveBack = (lease: Lease) => refundUnspent(accounts, lease).catch(onError)

  /** The next call of the account begins a lease with a batch of one. */
  function end(lease: Lease): Promise<void> {
    clearTimeout(lease.timer)
    leases.delete(lease.accountId)
    return giveBack(lease)
  }

  function startTimer(lease: Lease): void {
    clearTimeout(lease.timer)
    lease.timer = setTimeout(() => {
      if (lease.asking) startTimer(lease)
      else if (lease.taken === 0) void end(lease)
      else renew(lease)
    }, LEASE_MS).unref()
  }

  /** The next batch is as large as what was used in `LEASE_MS`. What is left of the last one is given back if it is more than that. */
  function renew(lease: Lease): void {
    const { taken, unspent } = lease
    lease.size = Math.max(1, Math.min(lease.size, taken))
    lease.taken = 0
    if (unspent > taken) {
      lease.asking = true
      track(giveBack(lease).then(() => answer(lease)))
    } else startTimer(lease)
  }

  async function answer(lease: Lease): Promise<void> {
    for (let first = lease.waiting[0]; first !== undefined; first = lease.waiting[0]) {
      const { windowId, limit } = first
      if (serves(lease, windowId, limit)) {
        lease.waiting.shift()
        first.resolve(take(lease))
        continue
      }
      await giveBack(lease)
      if (lease.windowId !== windowId) lease.granted = 0
      const batch = nextBatch(lease, first)
      try {
        grant(lease, await accounts.spend(lease.accountId, windowId, limit, Math.max(batch.length, lease.size)), limit)
        for (const { resolve } of batch) resolve(take(lease))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    lease.asking = false
    startTimer(lease)
  }

  return {
    /** Answers the calls that wait for a lease; call it only while no statement of the lease is under way. */
    fill(lease: Lease): void {
      lease.asking = true
      track(answer(lease))
    },
    /** Waits for the statements under way, then ends every lease. */
    async close(): Promise<void> {
      await Promise.all(underWay)
      await Promise.all([...leases.values()].map(end))
    },
  }
}

async function refundUnspent(accounts: Accounts, lease: Lease): Promise<void> {
  const { accountId, windowId, unspent } = lease
  if (unspent === 0) return
  lease.unspent = 0
  lease.granted -= unspent
  lease.used -= unspent
  await accounts.refund(accountId, windowId, unspent)
}
