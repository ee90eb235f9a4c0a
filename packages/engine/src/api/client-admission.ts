import { type ClientKey, clientKey, formatAddress, SallyportError, shareOfMax } from '@sallyport/core'
import { CLIENT_LIMITS, type ClientLimit, clientTasks } from './client-limits.ts'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report, unanswered } from './services.ts'

/** A route that is limited by client. */
export interface ClientAccess {
  readonly kind: 'client'
  readonly limit: ClientLimit
  /**
   * Counts calls that cannot be read (400, 413) in place of `limit`: then a call is counted once it was read. Used up, it
   * refuses such calls alone.
   */
  readonly badRequests?: ClientLimit | undefined
}

/** The values of the `X-RateLimit-*` headers. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds. */
  readonly resetAt: number
}

/** The verdict of a client's limits on one call; `rateLimit` is the limit that it was counted by. */
export interface ClientAdmission {
  readonly allowed: boolean
  readonly rateLimit: RateLimit
  /** Seconds until a call that is not allowed may be tried again. */
  readonly retryAfter?: number | undefined
  /** The call was only looked at, and is counted when it was read. */
  readonly pending?: PendingCount | undefined
}

/** A call that was looked at and is not counted yet. */
export interface PendingCount {
  /** Counts every call but those of `badRequests`. */
  readonly limit: ClientLimit
  /** Counts the calls that cannot be read. */
  readonly badRequests: ClientLimit
  readonly client: ClientKey
}

/** Admits requests by the limits of their clients. All of it throws `service_unavailable` where a limit cannot be asked. */
export interface ClientAdmissions {
  admit(access: ClientAccess, request: ApiRequest): Promise<ClientAdmission>
  /** Counts a call that was only looked at, by the status it would be answered with; 200 for one that could be read. */
  count(pending: PendingCount, status: number): Promise<ClientAdmission>
  /** Counts a call without a valid key, after the key was checked, so that valid keys behind the same address go on: throws `unauthorized`, and beyond the limit resolves to its refusal. */
  refuseKey(request: ApiRequest): Promise<ClientAdmission>
}

/** Bits of an IPv6 address that count as one client by default: a subscriber line is given a whole /64. */
const IPV6_PREFIX = 64

export function createClientAdmissions(services: ApiServices): ClientAdmissions {
  const { counts, clock, ipv6Prefix = IPV6_PREFIX } = services

  function clientOf(request: ApiRequest): ClientKey {
    const { address } = services.client(request)
    return clientKey(address === undefined ? '' : formatAddress(address), ipv6Prefix)
  }

  /** The tightest of a client's counts; of a look, whether a call would be allowed. */
  async function ask(limit: ClientLimit, client: ClientKey, cost: 0 | 1): Promise<ClientAdmission> {
    const tasks = clientTasks(limit, client, cost)
    const { states, share } = await counts.take(tasks, '')
    const fits = (max: number): number => (share === undefined ? max : shareOfMax(max, share))
    let tightest = { allowed: true, remaining: Number.POSITIVE_INFINITY, resetMs: 0 }
    for (const [at, { used, resetMs, ...state }] of states.entries()) {
      const remaining = Math.max(0, fits(tasks[at]?.max ?? 0) - used)
      const allowed = state.allowed && (cost > 0 || remaining > 0)
      if (remaining < tightest.remaining || (!allowed && tightest.allowed)) tightest = { allowed, remaining, resetMs }
    }
    const { allowed, remaining, resetMs } = tightest
    const resetAt = Math.ceil((clock.now() + resetMs) / 1000)
    // The limit in the headers is the route's, even where a wider count is the tighter one.
    const rateLimit = { limit: fits(limit.max), remaining, resetAt }
    return { allowed, rateLimit, retryAfter: Math.ceil(resetMs / 1000) }
  }

  async function answered<T>(asking: Promise<T>): Promise<T> {
    try {
      return await asking
    } catch (error) {
      throw unanswered(services, error)
    }
  }

  return {
    async admit({ limit, badRequests }, request) {
      const client = clientOf(request)
      if (badRequests === undefined) return answered(ask(limit, client, 1))
      const looked = await answered(ask(limit, client, 0))
      return looked.allowed ? { ...looked, pending: { limit, badRequests, client } } : looked
    },
    // The headers are those of the count that the call is in, and so are those of its refusal.
    count: ({ limit, badRequests, client }, status) =>
      answered(ask(isUnreadable(status) ? badRequests : limit, client, 1)),
    async refuseKey(request) {
      let admission: ClientAdmission
      try {
        admission = await ask(CLIENT_LIMITS.unauthorized, clientOf(request), 1)
      } catch (error) {
        // A limit that is down neither lets a call in nor hides that its key is wrong.
        report(services, error)
        throw new SallyportError('unauthorized')
      }
      if (admission.allowed) throw new SallyportError('unauthorized')
      return admission
    },
  }
}

/** Whether the call is at fault; what fails on our side is counted as a call that was read. */
function isUnreadable(status: number): boolean {
  return status >= 400 && status < 500
}
