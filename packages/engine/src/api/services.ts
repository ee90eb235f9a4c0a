import {
  type Address,
  type Clock,
  type Counts,
  type CrawlerAnswers,
  type Decision,
  type InspectionRequest,
  type Inspector,
  type Lookup,
  type NameTurns,
  type PlainAction,
  type ResolvedClient,
  SallyportError,
  type Snapshots,
  type Verdict,
  type Whois,
} from '@sallyport/core'
import type { EvidenceJson, EvidenceQuery, Jwks } from '@sallyport/ledger'
import type { Accounts, Plans } from '#accounts'
import type { ReferencePage } from './reference.ts'

/** A claim to judge and record. */
export interface ProvenanceClaim {
  /** The account whose log receives the claim. */
  readonly account: string
  readonly address: Address
  /** Country code or group, as the caller wrote it. */
  readonly claim: string
  /** Stored beside the chain, which holds a salted hash of it. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
}

/** A claim that was judged and recorded. */
export interface AttestedClaim {
  readonly attestationId: number
  readonly verdict: Verdict
  readonly action: PlainAction
}

/** Attestation as the API needs it. */
export interface ProvenanceService {
  /**
   * Judges a claim and records it; resolves when the record is durable. Throws `invalid_request` for a claim or a
   * context that cannot be recorded, `service_unavailable` where no network data is loaded, `attestation_unavailable`.
   */
  attest(claim: ProvenanceClaim): Promise<AttestedClaim>
  /** Evidence about an account's own records; `undefined` when it has none. */
  evidence(account: string, query: EvidenceQuery): Promise<EvidenceJson | undefined>
  /** The public halves of the keys that sign the ledger, as a JSON Web Key Set. */
  keys(): Promise<Jwks>
}

/** Holds the services that the API answers from. */
export interface ApiServices {
  /** Returns the page of `GET /v1/docs`; when absent, the route answers `service_unavailable`. */
  readonly reference?: (() => ReferencePage) | undefined
  readonly clock: Clock
  readonly lookup: Lookup
  readonly crawlers: CrawlerAnswers
  readonly snapshots: Snapshots
  readonly whois: Whois
  /** Shared with other parts that look up names. */
  readonly nameTurns: NameTurns
  readonly accounts: Accounts
  readonly plans: Plans
  /** Counts calls by client. */
  readonly counts: Pick<Counts, 'take'>
  readonly provenance: ProvenanceService
  /** The client address of a request: keyless limits count it, and `/v1/myip` answers with it. */
  client(request: InspectionRequest): ResolvedClient
  /** Decides about a request that a caller of the API describes. */
  readonly check: Inspector['check']
  /** Called with every decision about a described request; its `id` is the caller's. */
  onChecked?(decision: Decision): void
  /** Called with the public id of every key that a request was admitted with. */
  onKeyUsed?(id: string): void
  /** Called with every bug and every failure of a store; callers of the API see no detail. */
  onError?(error: unknown): void
}

/** Calls the host's `onError`; an error of that callback does not change the answer. */
export function report(services: ApiServices, error: unknown): void {
  try {
    services.onError?.(error)
  } catch {
    // There is no other place to report to.
  }
}

/** Reports the failure of a store to the host, and returns the error that refuses the request. */
export function unanswered(services: ApiServices, error: unknown): SallyportError {
  report(services, error)
  return new SallyportError('service_unavailable')
}
