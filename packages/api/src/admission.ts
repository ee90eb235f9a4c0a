import {
  type Account,
  type Accounts,
  ALLOWANCES,
  type BillingWindow,
  billingWindow,
  type ClientLimit,
  clientBuckets,
  type LimitState,
  type ParsedKey,
  parseKey,
  sameKey,
} from '@sallyport/accounts'
import { SallyportError } from '@sallyport/core'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report } from './services.ts'

/** What a route requires of its callers, and what a call counts against. */
export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'client'; readonly limit: ClientLimit }
  | { readonly kind: 'key'; readonly metered: boolean }

/** What an account has used of its billing window. */
export interface Allowance {
  readonly account: Account
  readonly window: BillingWindow
  readonly limit: number
  readonly used: number
}

/** The outcome of admitting one request. */
export interface Admission {
  readonly allowed: boolean
  /** The limit's state; absent where nothing limits. */
  readonly rateLimit?: RateLimit
  readonly allowance?: Allowance
  /** The window in which the call was counted; absent where none was. */
  readonly countedIn?: string
}

/** What the `X-RateLimit-*` headers say. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds. */
  readonly resetAt: number
}

/** Statuses of a metered route that count as one call; after any other the call is refunded. */
const COUNTED = [200, 400]

/** A request that nothing limits, or that was refused before any limit was checked. */
export const UNLIMITED_ADMISSION: Admission = { allowed: true }

/** Decides whether requests may be answered, and counts them. */
export interface Admissions {
  /**
   * Throws `unauthorized` before anything is counted, and `service_unavailable` when a store that must answer does not.
   */
  admit(access: Access, request: ApiRequest): Promise<Admission>
  /** The admission after an answer of this status: a call that does not count is refunded. */
  settle(admission: Admission, status: number): Promise<Admission>
}

/** Admission over the services of one API. */
export function createAdmissions(services: ApiServices): Admissions {
  /** Awaits the stores alone: each further promise would be measurable. */
  async function admitKey(request: ApiRequest, metered: boolean): Promise<Admission> {
    const key = keyOf(request.fields)
    if (key === undefined) throw new SallyportError('unauthorized')
    let found: Awaited<ReturnType<Accounts['findKey']>>
    try {
      found = await services.accounts.findKey(key.id)
    } catch (error) {
      throw unanswered(services, error)
    }
    // One error for every cause, so that it reveals nothing about the key.
    if (found === undefined || !sameKey(key, found.key) || found.key.revokedAt !== undefined) {
      throw new SallyportError('unauthorized')
    }
    services.onKeyUsed?.(found.key.id)
    const { account } = found
    const window = billingWindow(account.signupDate, services.clock.now())
    const limit = ALLOWANCES[account.plan]
    try {
      if (!metered) {
        const used = await services.accounts.usage(account.id, window.id)
        const allowance = { account, window, limit, used }
        return { allowed: true, allowance, rateLimit: rateLimitOf(allowance) }
      }
      const { granted, used, windowId } = await services.accounts.spend(account.id, window.id, limit)
      const allowance = { account, window, limit, used }
      const rateLimit = rateLimitOf(allowance)
      return granted === 0
        ? { allowed: false, allowance, rateLimit }
        : { allowed: true, allowance, rateLimit, countedIn: windowId }
    } catch (error) {
      throw unanswered(services, error)
    }
  }

  return {
    // Not async: that would cost three more microtasks.
    admit(access, request) {
      switch (access.kind) {
        case 'open':
          return Promise.resolve(UNLIMITED_ADMISSION)
        case 'client':
          return admitClient(access.limit, request, services)
        case 'key':
          return admitKey(request, access.metered)
      }
    },
    async settle(admission, status) {
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
      return { allowed: true, allowance: less, rateLimit: rateLimitOf(less) }
    },
  }
}

async function admitClient(limit: ClientLimit, request: ApiRequest, services: ApiServices): Promise<Admission> {
  const buckets = clientBuckets(services.client(request).address, services.ipv6Prefix)
  let tightest: LimitState | undefined
  for (const { key, factor } of buckets) {
    const scaled = factor === 1 ? limit : { ...limit, max: limit.max * factor }
    let state: LimitState
    try {
      state = await services.limits.take(scaled, key)
    } catch (error) {
      throw unanswered(services, error)
    }
    if (tightest === undefined || state.remaining < tightest.remaining || !state.allowed) tightest = state
    if (!state.allowed) break
  }
  if (tightest === undefined) return UNLIMITED_ADMISSION
  const { allowed, remaining, resetAt } = tightest
  // The limit in the headers is the route's, even where a wider bucket is the tighter one.
  return { allowed, rateLimit: { limit: Math.min(limit.max, tightest.limit), remaining, resetAt } }
}

function rateLimitOf({ limit, used, window }: Allowance): RateLimit {
  return { limit, remaining: Math.max(0, limit - used), resetAt: window.endsAt / 1000 }
}

const AUTHORIZATION = 'authorization'

/** Characters of the scheme, a key and some blanks between them; anything longer is refused unread. */
const MAX_CREDENTIALS = 128

/** The key of `Bearer` credentials (RFC 6750; the scheme in any case). */
function keyOf(fields: readonly string[]): ParsedKey | undefined {
  const credentials = credentialsOf(fields)
  if (credentials === undefined || credentials.length > MAX_CREDENTIALS) return undefined
  const token = /^bearer +(\S+) *$/i.exec(credentials)?.[1]
  return token === undefined ? undefined : parseKey(token)
}

/**
 * The value of the one `Authorization` field. `undefined` when there is none or more than one: Node keeps the first of
 * several silently, so the raw fields are counted.
 */
function credentialsOf(fields: readonly string[]): string | undefined {
  let value: string | undefined
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]
    // The length is compared first: a browser sends twenty other fields.
    if (name?.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue
    if (value !== undefined) return undefined
    value = fields[index + 1] ?? ''
  }
  return value
}

/** A store failed: the request is refused, and the host gets the error. */
function unanswered(services: ApiServices, error: unknown): SallyportError {
  report(services, error)
  return new SallyportError('service_unavailable')
}
