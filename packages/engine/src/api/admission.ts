import {
  type Account,
  type Accounts,
  type BillingWindow,
  createBillingWindows,
  findAllowance,
  sameKey,
} from '#accounts'
import { type ClientAccess, type ClientAdmission, createClientAdmissions, type RateLimit } from './client-admission.ts'
import { createKeyReader } from './credentials.ts'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report, unanswered } from './services.ts'

/** What a route requires of its callers, and the allowance that a call counts against. */
export type Access = { readonly kind: 'open' } | ClientAccess | { readonly kind: 'key'; readonly metered: boolean }

/** Says how much of a billing window an account has used. */
export interface Allowance {
  readonly account: Account
  readonly window: BillingWindow
  readonly limit: number
  readonly used: number
}

/** Says whether one request is admitted. */
export interface Admission extends Omit<ClientAdmission, 'rateLimit'> {
  /** The state of the limit; absent when nothing limits the request. */
  readonly rateLimit?: RateLimit | undefined
  readonly allowance?: Allowance | undefined
  /** The window in which the call was counted; absent where none was. */
  readonly countedIn?: string | undefined
}

/** Statuses of a metered route that count as one call; after any other the call is refunded. */
const COUNTED = [200, 400]

/** A request that nothing limits, or that was refused before any limit was checked. */
export const UNLIMITED_ADMISSION: Admission = { allowed: true }

/** Decides whether requests may be answered, and counts them. */
export function createAdmissions(services: ApiServices) {
  const clients = createClientAdmissions(services)
  const findWindow = createBillingWindows()
  const keys = createKeyReader()

  /**
   * Awaits the stores alone: each further promise would be measurable. The key is checked before any limit, so that a valid key is never
   * refused for what others send from the same address.
   */
  async function admitKey(request: ApiRequest, metered: boolean): Promise<Admission> {
    const key = keys.read(request.fields)
    if (key === undefined) return clients.refuseKey(request)
    let found: Awaited<ReturnType<Accounts['findKey']>>
    try {
      found = await services.accounts.findKey(key.id)
    } catch (error) {
      throw unanswered(services, error)
    }
    // One error for every cause, so that it reveals nothing about the key.
    if (found === undefined || !sameKey(key, found.key) || found.key.revokedAt !== undefined) {
      keys.drop(key)
      return clients.refuseKey(request)
    }
    keys.keep(key)
    services.onKeyUsed?.(found.key.id)
    const { account } = found
    const window = findWindow(account.signupDate, services.clock.now())
    const limit = findAllowance(services.plans, account.plan)
    try {
      if (!metered) {
        const used = await services.accounts.usage(account.id, window.id)
        const allowance = { account, window, limit, used }
        return { allowed: true, allowance, rateLimit: describeRateLimit(allowance) }
      }
      const { granted, used, windowId } = await services.accounts.spend(account.id, window.id, limit)
      const allowance = { account, window, limit, used }
      const rateLimit = describeRateLimit(allowance)
      const retryAfter = Math.max(1, Math.ceil((window.endsAt - services.clock.now()) / 1000))
      return granted === 0
        ? { allowed: false, allowance, rateLimit, retryAfter }
        : { allowed: true, allowance, rateLimit, countedIn: windowId }
    } catch (error) {
      throw unanswered(services, error)
    }
  }

  return {
    /**
     * Throws `unauthorized` for a call without a valid key, until its client has made too many of them, and `service_unavailable` when a
     * store that must answer does not. Not async: that would cost three more microtasks.
     */
    admit(access: Access, request: ApiRequest): Promise<Admission> {
      switch (access.kind) {
        case 'open':
          return Promise.resolve(UNLIMITED_ADMISSION)
        case 'client':
          return clients.admit(access, request)
        case 'key':
          return admitKey(request, access.metered)
      }
    },
    count: clients.count,
    /** Returns the admission after a response of this status: a call that does not count is refunded. */
    async settle(admission: Admission, status: number): Promise<Admission> {
      const { allowance, countedIn } = admission
      if (allowance === undefined || countedIn === undefined || COUNTED.includes(status)) return admission
      try {
        await services.accounts.refund(allowance.account.id, countedIn)
      } catch (error) {
        // One call too many is counted, and the answer is still given.
        report(services, error)
        return admission
      }
      const less = { ...allowance, used: allowance.used - 1 }
      return { allowed: true, allowance: less, rateLimit: describeRateLimit(less) }
    },
  }
}

function describeRateLimit({ limit, used, window }: Allowance): RateLimit {
  return { limit, remaining: Math.max(0, limit - used), resetAt: window.endsAt / 1000 }
}
