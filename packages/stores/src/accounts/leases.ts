import type { Accounts, Spend } from '@sallyport/accounts'

export interface LeaseOptions {
  /** Told when calls that were reserved and not used could not be given back; they stay counted. */
  readonly onError?: (error: unknown) => void
}

/** Accounts that count calls of one key in batches; `close` gives back what is reserved and not used. */
export interface LeasedAccounts extends Accounts {
  close(): Promise<void>
}

/** How long calls may stay reserved without being used, and most that are reserved at once: all callers wait for the next. */
const LEASE_MS = 100
const MAX_CALLS = 4_000

/** An account that has asked so often, never `LEASE_MS` apart, is busy; before that every call is counted by itself. */
const BUSY_AFTER = 32

/** At most this part of what is left is reserved, so that near the limit every call is counted by itself. */
const PART_OF_REMAINING = 1 / 64

interface Waiting {
  readonly windowId: string
  readonly limit: number
  readonly resolve: (spend: Spend) => void
  readonly reject: (error: unknown) => void
}

/** Calls of one account that the store has counted already and that this process may answer. */
interface Lease {
  windowId: string
  limit: number
  /** The store's count when it was last heard. */
  used: number
  /** Calls of the window that were counted for this process since the lease began, and those not answered yet. */
  granted: number
  unspent: number
  /** How often the store was asked since the lease began, and how many calls to reserve next. */
  asked: number
  size: number
  /** Calls that were answered since the lease was last kept. */
  taken: number
  asking: boolean
  readonly waiting: Waiting[]
  timer: NodeJS.Timeout | undefined
}

/**
 * Counts the calls of a busy account in batches. The rule: a call is counted in the store, durably, before it is
 * answered. So nothing that was answered is ever lost and the limit is never passed, by any number of processes and
 * whatever is killed; a killed process costs an account at most the `MAX_CALLS` that it had reserved
 * and not answered. What is not used is given back in at most twice `LEASE_MS`, so that other processes see the count that
 * much late; an account that goes on calling stays busy.
 *
 * A limit that is reached is asked about again after `LEASE_MS`: refused calls cost the store nothing.
 *
 * An account that is not busy reserves nothing. Of one that is, batches double up to a part of what is left. Calls that
 * wait for the store at the same moment are counted by one statement.
 */
export function leaseCalls(accounts: Accounts, { onError }: LeaseOptions = {}): LeasedAccounts {
  const leases = new Map<string, Lease>()
  /** Of leases that ask the store now: what comes of it is known when it settles. */
  const asking = new Set<Promise<void>>()

  function whileAsking(work: Promise<void>): void {
    const done = work.finally(() => asking.delete(done))
    asking.add(done)
  }

  async function giveBack(accountId: string, windowId: string, calls: number): Promise<void> {
    if (calls === 0) return
    try {
      await accounts.refund(accountId, windowId, calls)
    } catch (error) {
      onError?.(error)
    }
  }

  /** Forgets a lease; the next call of the account begins with a batch of one. */
  function end(accountId: string, lease: Lease): Promise<void> {
    clearTimeout(lease.timer)
    leases.delete(accountId)
    return giveBack(accountId, lease.windowId, lease.unspent)
  }

  function keepFor(accountId: string, lease: Lease): void {
    clearTimeout(lease.timer)
    lease.timer = setTimeout(() => {
      if (lease.asking) keepFor(accountId, lease)
      else if (lease.taken === 0) void end(accountId, lease)
      else goOn(accountId, lease)
    }, LEASE_MS).unref()
  }

  /**
   * The next batch of a lease that is in use is as large as what was used in `LEASE_MS`. What is left of the last one
   * is kept where the next `LEASE_MS` will use it, and given back where it is more than that.
   */
  function goOn(accountId: string, lease: Lease): void {
    const { taken, unspent } = lease
    lease.size = Math.max(1, Math.min(lease.size, taken))
    lease.taken = 0
    if (unspent > taken) whileAsking(renew(accountId, lease))
    else keepFor(accountId, lease)
  }

  async function renew(accountId: string, lease: Lease): Promise<void> {
    const calls = lease.unspent
    lease.asking = true
    lease.unspent = 0
    lease.granted -= calls
    lease.used -= calls
    await giveBack(accountId, lease.windowId, calls)
    await ask(accountId, lease)
  }

  async function ask(accountId: string, lease: Lease): Promise<void> {
    lease.asking = true
    for (let first = lease.waiting[0]; first !== undefined; first = lease.waiting[0]) {
      const { windowId, limit } = first
      if (serves(lease, windowId, limit)) {
        lease.waiting.shift()
        first.resolve(take(lease))
        continue
      }
      await giveBack(accountId, lease.windowId, lease.unspent)
      lease.granted = lease.windowId === windowId ? lease.granted - lease.unspent : 0
      lease.unspent = 0
      // Those who came meanwhile are counted too; another window or plan is for the next turn.
      const alike = lease.waiting.findIndex((other) => other.windowId !== windowId || other.limit !== limit)
      const batch = lease.waiting.splice(0, alike === -1 ? lease.waiting.length : alike)
      try {
        const spend = await accounts.spend(accountId, windowId, limit, Math.max(batch.length, lease.size))
        const left = limit - spend.used
        Object.assign(lease, { windowId: spend.windowId, limit, used: spend.used, unspent: spend.granted })
        lease.granted += spend.granted
        lease.asked++
        const wanted = lease.asked < BUSY_AFTER ? 1 : Math.min(lease.size * 2, MAX_CALLS)
        lease.size = Math.max(1, Math.min(wanted, Math.floor(left * PART_OF_REMAINING)))
        for (const { resolve } of batch) resolve(take(lease))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    lease.asking = false
    keepFor(accountId, lease)
  }

  return {
    ...accounts,
    spend(accountId, windowId, limit, calls = 1) {
      if (calls !== 1) return accounts.spend(accountId, windowId, limit, calls)
      const known = leases.get(accountId)
      const lease = known ?? newLease(windowId, limit)
      if (known === undefined) leases.set(accountId, lease)
      if (!lease.asking && serves(lease, windowId, limit)) return Promise.resolve(take(lease))
      return new Promise((resolve, reject) => {
        lease.waiting.push({ windowId, limit, resolve, reject })
        if (!lease.asking) whileAsking(ask(accountId, lease))
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
      // An earlier lease counted it. All that is here goes back with it: the store knows how many there were.
      Object.assign(lease, { granted: 0, unspent: 0, used: Math.max(0, lease.used - back) })
      await accounts.refund(accountId, windowId, back)
    },
    async usage(accountId, windowId) {
      const counted = await accounts.usage(accountId, windowId)
      const lease = leases.get(accountId)
      return lease === undefined || lease.windowId < windowId ? counted : Math.max(0, counted - lease.unspent)
    },
    async close() {
      await Promise.all(asking)
      await Promise.all([...leases].map(([accountId, lease]) => end(accountId, lease)))
    },
  }
}

function newLease(windowId: string, limit: number): Lease {
  return {
    windowId,
    limit,
    used: 0,
    granted: 0,
    unspent: 0,
    asked: 0,
    size: 1,
    taken: 0,
    asking: false,
    waiting: [],
    timer: undefined,
  }
}

/**
 * Whether a call can be answered from the lease: one is left, or the limit was just found to be reached. A call of a
 * window that a later one has followed counts in the later.
 */
function serves(lease: Lease, windowId: string, limit: number): boolean {
  const known = lease.unspent > 0 || (lease.asked > 0 && lease.used >= limit)
  return known && lease.windowId >= windowId && lease.limit === limit
}

/** One call of a lease; refused where nothing is left. */
function take(lease: Lease): Spend {
  const granted = Math.min(1, lease.unspent)
  lease.unspent -= granted
  lease.taken += granted
  return { granted, used: lease.used - lease.unspent, windowId: lease.windowId }
}
