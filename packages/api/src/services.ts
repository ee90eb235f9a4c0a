import type { Accounts, Limits } from '@sallyport/accounts'
import type { Clock, InspectionRequest, Lookup, ResolvedClient, Snapshots } from '@sallyport/core'

/** All that the API answers from. */
export interface ApiServices {
  readonly clock: Clock
  readonly lookup: Lookup
  readonly snapshots: Snapshots
  readonly accounts: Accounts
  readonly limits: Limits
  /** Bits of an IPv6 address that share one per-client limit, 1 to 128; 64 unless told otherwise. */
  readonly ipv6Prefix?: number
  /** The client behind a request: what keyless limits count, and what `/v1/myip` tells. */
  client(request: InspectionRequest): ResolvedClient
  /** Told of every bug and of every store that failed; the caller of the API is told no detail. */
  onError?(error: unknown): void
}

/** Hands an error to the host's `onError`, whose own failure must not become the answer's. */
export function report(services: ApiServices, error: unknown): void {
  try {
    services.onError?.(error)
  } catch {
    // Nobody is left to tell.
  }
}
