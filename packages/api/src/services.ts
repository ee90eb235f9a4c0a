import type { Accounts, Limits } from '@sallyport/accounts'
import type {
  Clock,
  CrawlerAnswers,
  InspectionRequest,
  Inspector,
  Lookup,
  ResolvedClient,
  Snapshots,
  Whois,
} from '@sallyport/core'
import type { ProvenanceService } from './provenance.ts'

/** All that the API answers from. */
export interface ApiServices {
  readonly clock: Clock
  readonly lookup: Lookup
  readonly crawlers: CrawlerAnswers
  readonly snapshots: Snapshots
  readonly whois: Whois
  readonly accounts: Accounts
  readonly limits: Limits
  readonly provenance: ProvenanceService
  /** Bits of an IPv6 address that share one per-client limit, 1 to 128; 64 unless told otherwise. */
  readonly ipv6Prefix?: number
  /** The client behind a request: what keyless limits count, and what `/v1/myip` tells. */
  client(request: InspectionRequest): ResolvedClient
  /** The decision about a request that a caller of the API tells of. */
  readonly check: Inspector['check']
  /** Told the public id of every key that a request was let in with. */
  onKeyUsed?(id: string): void
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
