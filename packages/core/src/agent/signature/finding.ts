import type { Crawler } from '../../crawler/catalogue.ts'

/**
 * Outcome of a signature. `verified`: a key of the agent's directory made it. `invalid`: it is malformed, stale or replayed, or the key
 * that it names did not make it. `unverified`: the key was unavailable, or a copy could not be noticed, so nothing may be concluded.
 */
type SignatureOutcome = 'verified' | 'invalid' | 'unverified'

/** Describes the signature of a request and its signer. Frozen and JSON-serialisable but for `crawler`. */
export interface SignatureFinding {
  readonly outcome: SignatureOutcome
  /** Identifies the agent by the URL of its keys, without query and fragment; absent when the request names none. */
  readonly agent?: string | undefined
  /** Identifies the key by its RFC 7638 thumbprint. */
  readonly keyId?: string | undefined
  /** True only where the named agent's own key was available and did not make this signature: an impostor. */
  readonly forged: boolean
  /** `checked` where a copy would be noticed; absent unless the signature verified. */
  readonly replay?: 'checked' | 'unchecked' | undefined
  /** True where the signature is valid for another path or method of the site as well; absent unless it verified. */
  readonly replayable?: boolean | undefined
  /** The catalogue has a row for the agent. */
  readonly crawler?: Crawler | undefined
  /** Explains the outcome in one sentence for a person. */
  readonly detail: string
}
