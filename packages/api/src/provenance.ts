import type { Action, Address, Verdict } from '@sallyport/core'
import type { EvidenceJson, EvidenceQuery, Jwks } from '@sallyport/ledger'

/** A claim to be judged and recorded. */
export interface ProvenanceClaim {
  /** In whose log. */
  readonly account: string
  readonly address: Address
  /** Country code or group, as the caller wrote it. */
  readonly claim: string
  /** Kept apart from the chain, which holds a salted hash of it. */
  readonly context?: Readonly<Record<string, unknown>>
}

/** A claim that was judged and recorded. */
export interface AttestedClaim {
  readonly attestationId: number
  readonly verdict: Verdict
  readonly action: Action
}

/** Attestation as the API needs it. */
export interface ProvenanceService {
  /**
   * Judges a claim and records it; resolves when the record is durable. Throws `invalid_request` for a claim or a
   * context that cannot be recorded, `service_unavailable` where no network data is loaded, `attestation_unavailable`.
   */
  attest(claim: ProvenanceClaim): Promise<AttestedClaim>
  /** Evidence about an account's own records; `undefined` when it has none such. */
  evidence(account: string, query: EvidenceQuery): Promise<EvidenceJson | undefined>
  keys(): Promise<Jwks>
}
