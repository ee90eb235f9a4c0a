import type { Spend } from '#accounts'

/** How long calls may stay reserved without being used. */
export const LEASE_MS = 100

/** Calls that are reserved at once. */
const MAX_CALLS = 4_000

/** Statements, never `LEASE_MS` apart, after which an account is busy; until then each reserves one call. */
const BUSY_AFTER = 32

/** At most this part of what is left is reserved, so that near the limit every call is a statement of its own. */
const PART_OF_REMAINING = 1 / 64

export interface Waiting {
  readonly windowId: string
  readonly limit: number
  readonly resolve: (spend: Spend) => void
  readonly reject: (error: unknown) => void
}

/** Calls of one account that the store has counted already and that this process may answer. */
export interface Lease {
  readonly accountId: string
  windowId: string
  limit: number
  /** Calls that were used after the last statement, as the store counts them. */
  used: number
  /** Calls of the window that were counted for this process since the lease began, and those not answered yet. */
  granted: number
  unspent: number
  /** Statements since the lease began, and how many calls the next one reserves. */
  asked: number
  size: number
  /** Calls that were answered since the timer was last started. */
  taken: number
  asking: boolean
  readonly waiting: Waiting[]
  timer: NodeJS.Timeout | undefined
}

export function newLease(accountId: string, windowId: string, limit: number): Lease {
  const counts = { used: 0, granted: 0, unspent: 0, asked: 0, size: 1, taken: 0 }
  return { accountId, windowId, limit, ...counts, asking: false, waiting: [], timer: undefined }
}

/** Reports whether the lease can answer a call: one is left, or the limit was just reached. Later windows count calls of earlier ones. */
export function serves(lease: Lease, windowId: string, limit: number): boolean {
  const known = lease.unspent > 0 || (lease.asked > 0 && lease.used >= limit)
  return known && lease.windowId >= windowId && lease.limit === limit
}

/** Takes one call of a lease; refuses it when nothing is left. */
export function take(lease: Lease): Spend {
  const granted = Math.min(1, lease.unspent)
  lease.unspent -= granted
  lease.taken += granted
  return { granted, used: lease.used - lease.unspent, windowId: lease.windowId }
}

/** Adds what one statement reserved; the batches of a busy account double. */
export function grant(lease: Lease, spend: Spend, limit: number): void {
  Object.assign(lease, { windowId: spend.windowId, limit, used: spend.used, unspent: spend.granted })
  lease.granted += spend.granted
  lease.asked++
  const wanted = lease.asked < BUSY_AFTER ? 1 : Math.min(lease.size * 2, MAX_CALLS)
  lease.size = Math.max(1, Math.min(wanted, Math.floor((limit - spend.used) * PART_OF_REMAINING)))
}

/** Returns the calls that can be counted with the first waiting call: those of its window and plan. They wait no longer. */
export function nextBatch({ waiting }: Lease, { windowId, limit }: Waiting): readonly Waiting[] {
  const other = waiting.findIndex((call) => call.windowId !== windowId || call.limit !== limit)
  return waiting.splice(0, other === -1 ? waiting.length : other)
}
