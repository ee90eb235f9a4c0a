import { type Bucket, CLIENT_LIMITS, type ClientLimit, clientBuckets, type LimitState } from '@sallyport/accounts'
import { SallyportError } from '@sallyport/core'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report, unanswered } from './services.ts'

/** A route that is limited by client. */
export interface ClientAccess {
  readonly kind: 'client'
  readonly limit: ClientLimit
  /** Counts calls that are answered 400 in place of `limit`: then a call is counted once it was read. */
  readonly badRequests?: ClientLimit
}

/** The values of the `X-RateLimit-*` headers. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds. */
  readonly resetAt: number
}

/** The verdict of a client's limits on one call. */
export interface ClientAdmission {
  readonly allowed: boolean
  readonly rateLimit: RateLimit
  /** Seconds until a call that is not allowed may be tried again. */
  readonly retryAfter?: number
  /** The call was only looked at, and is counted when it was read. */
  readonly pending?: PendingCount
}

/** A call that was looked at and is not counted yet. */
export interface PendingCount {
  /** Counts every call but those of `badRequests`. */
  readonly limit: ClientLimit
  /** Counts the calls that are answered 400. */
  readonly badRequests: ClientLimit
  readonly buckets: readonly Bucket[]
  /** `limit` as it was looked at. */
  readonly looked: LimitState
}

/** Admits requests by the limits of their clients. All of it throws `service_unavailable` where a limit cannot be asked. */
export interface ClientAdmissions {
  admit(access: ClientAccess, request: ApiRequest): Promise<ClientAdmission>
  /** Counts a call that was only looked at, by the status it would be answered with; 200 for one that could be read. */
  count(pending: PendingCount, status: number): Promise<ClientAdmission>
  /** Counts a call without a valid key (D92): throws `unauthorized`, and beyond the limit resolves to its refusal. */
  refuseKey(request: ApiRequest): Promise<ClientAdmission>
}

export function createClientAdmissions(services: ApiServices): ClientAdmissions {
  const { limits, clock } = services

  function bucketsOf(request: ApiRequest): readonly Bucket[] {
    return clientBuckets(services.client(request).address, services.ipv6Prefix)
  }

  /** The tightest of a client's buckets; the first that refuses ends it. */
  async function ask(operation: 'take' | 'look', limit: ClientLimit, buckets: readonly Bucket[]): Promise<LimitState> {
    let tightest: LimitState | undefined
    for (const { key, factor } of buckets) {
      const scaled = factor === 1 ? limit : { ...limit, max: limit.max * factor }
      const state = await limits[operation](scaled, key)
      if (tightest === undefined || state.remaining < tightest.remaining || !state.allowed) tightest = state
      if (!state.allowed) break
    }
    if (tightest === undefined) throw new TypeError('a client has a bucket')
    // The limit in the headers is the route's, even where a wider bucket is the tighter one.
    return { ...tightest, limit: Math.min(limit.max, tightest.limit) }
  }

  async function answered<T>(asking: Promise<T>): Promise<T> {
    try {
      return await asking
    } catch (error) {
      throw unanswered(services, error)
    }
  }

  function waitFor({ resetAt }: LimitState, { windowSeconds }: ClientLimit): number {
    // The end of a window is in whole seconds: rounded up, the wait could exceed the window.
    return Math.min(Math.max(1, Math.ceil(resetAt - clock.now() / 1000)), windowSeconds)
  }

  function admissionOf(state: LimitState, limit: ClientLimit): ClientAdmission {
    return { allowed: state.allowed, rateLimit: rateLimitOf(state), retryAfter: waitFor(state, limit) }
  }

  return {
    async admit({ limit, badRequests }, request) {
      const buckets = bucketsOf(request)
      if (badRequests === undefined) return admissionOf(await answered(ask('take', limit, buckets)), limit)
      const asked = [limit, badRequests].map((each) => ask('look', each, buckets))
      const [looked, bad] = (await answered(Promise.all(asked))) as [LimitState, LimitState]
      const waits = [
        ...(looked.allowed ? [] : [waitFor(looked, limit)]),
        ...(bad.allowed ? [] : [waitFor(bad, badRequests)]),
      ]
      const rateLimit = rateLimitOf(looked)
      if (waits.length > 0) return { allowed: false, rateLimit, retryAfter: Math.max(...waits) }
      return { allowed: true, rateLimit, pending: { limit, badRequests, buckets, looked } }
    },
    async count({ limit, badRequests, buckets, looked }, status) {
      if (status !== 400) return admissionOf(await answered(ask('take', limit, buckets)), limit)
      const counted = await answered(ask('take', badRequests, buckets))
      return { ...admissionOf(counted, badRequests), rateLimit: rateLimitOf(looked) }
    },
    async refuseKey(request) {
      const limit = CLIENT_LIMITS.unauthorized
      let state: LimitState
      try {
        state = await ask('take', limit, bucketsOf(request))
      } catch (error) {
        // A limit that is down neither lets a call in nor hides that its key is wrong.
        report(services, error)
        throw new SallyportError('unauthorized')
      }
      if (state.allowed) throw new SallyportError('unauthorized')
      return admissionOf(state, limit)
    },
  }
}

function rateLimitOf({ limit, remaining, resetAt }: LimitState): RateLimit {
  return { limit, remaining, resetAt }
}
