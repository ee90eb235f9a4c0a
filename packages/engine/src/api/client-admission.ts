import { type ClientKey, clientKey, formatAddress, SallyportError, scaleLimit } from '@sallyport/core'
import { CLIENT_LIMITS, type ClientLimit, clientTasks } from './client-limits.ts'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report, unanswered } from './services.ts'

/** A route that is limited by client. */
export interface ClientAccess {
  readonly kind: 'client'
  readonly limit: ClientLimit
  /** Counts calls that cannot be read (400, 413) in place of `limit`, after the reading. When it is used up, only such calls are refused. */
  readonly badRequests?: ClientLimit | undefined
}

/** Holds the values of the `X-RateLimit-*` headers. */
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
  /** The call was only checked, and is counted when it was read. */
  readonly pending?: PendingCount | undefined
}

/** A call that was checked and is not counted yet. */
export interface PendingCount extends Pick<ClientAccess, 'limit'> {
  readonly badRequests: ClientLimit
  readonly client: ClientKey
}

/** Admits requests by the limits of their clients. All methods throw `service_unavailable` when a limit cannot be read. */
export function createClientAdmissions(services: ApiServices) {
  const { counts, clock } = services

  function identifyClient(request: ApiRequest): ClientKey {
    const { address } = services.client(request)
    return clientKey(address === undefined ? '' : formatAddress(address))
  }

  /** Returns the tightest of a client's counts. With a `cost` of 0 it reports only whether a call would be allowed. */
  async function ask(limit: ClientLimit, client: ClientKey, cost: 0 | 1): Promise<ClientAdmission> {
    const tasks = clientTasks(limit, client, cost)
    const { states, share } = await counts.take(tasks, '')
    const fits = (max: number): number => (share === undefined ? max : scaleLimit(max, share))
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
    async admit({ limit, badRequests }: ClientAccess, request: ApiRequest): Promise<ClientAdmission> {
      const client = identifyClient(request)
      if (badRequests === undefined) return answered(ask(limit, client, 1))
      const looked = await answered(ask(limit, client, 0))
      return looked.allowed ? { ...looked, pending: { limit, badRequests, client } } : looked
    },
    /** Counts a call that was only checked, by the status of its response, whose headers describe that count; 200 if it could be read. */
    count: ({ limit, badRequests, client }: PendingCount, status: number) =>
      answered(ask(isUnreadable(status) ? badRequests : limit, client, 1)),
    /** Counts calls with invalid keys alone; valid ones of an address go on. Throws `unauthorized`; past the limit resolves to a refusal. */
    async refuseKey(request: ApiRequest): Promise<ClientAdmission> {
      let admission: ClientAdmission
      try {
        admission = await ask(CLIENT_LIMITS.unauthorized, identifyClient(request), 1)
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

/** Reports whether the call is at fault; a failure on our side is counted as a call that was read. */
function isUnreadable(status: number): boolean {
  return status >= 400 && status < 500
}
