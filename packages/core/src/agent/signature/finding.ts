import type { Crawler } from '../../crawler/catalogue.ts'

const SIGNATURE_OUTCOMES = ['verified', 'invalid', 'unverified'] as const

/**
 * Outcome of a signature. `verified`: by a key of the agent's directory. `invalid`: malformed, stale, replayed, or
 * not by the key it names. `unverified`: the key could not be had, or a copy could not be told, so nothing may be concluded.
 */
export type SignatureOutcome = (typeof SIGNATURE_OUTCOMES)[number]

/** The signature of a request and what is known of its signer. Frozen and JSON-serialisable but for `crawler`. */
export interface SignatureFinding {
  readonly outcome: SignatureOutcome
  /** Identifier of the agent: the URL its keys are at, without query and fragment; absent when it names none. */
  readonly agent?: string | undefined
  /** RFC 7638 thumbprint of the key. */
  readonly keyId?: string | undefined
  /** True only where the named agent's own key was at hand and did not make this signature: an impostor. */
  readonly forged: boolean
  /** Whether a copy of it would be noticed; absent unless it verified. */
  readonly replay?: 'checked' | 'unchecked' | undefined
  /** Whether it holds for another path or method of the site as well; absent unless it verified. */
  readonly replayable?: boolean | undefined
  /** The agent's row in the catalogue. */
  readonly crawler?: Crawler | undefined
  /** One sentence for a person. */
  readonly detail: string
}
