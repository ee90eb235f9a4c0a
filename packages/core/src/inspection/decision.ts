import type { Reason } from '../reason.ts'
import type { Action } from '../vocabulary.ts'
import type { Inspection } from './inspection.ts'

/** What was recorded of a request that claims to come from somewhere: the id given out is a durable record. */
export interface Attestation {
  readonly id: number
  /** Country code, or group of countries. */
  readonly claim: string
  /** What the jurisdiction policy says, and the id of its rule. */
  readonly action: Action
  readonly reason: string
}

/**
 * What to do about a request. `action` is what the policy decided; `enforced` is false only where monitor mode, or the
 * trial of the deciding rule, keeps a flag or a block from being carried out.
 */
export interface Decision {
  readonly action: Action
  readonly enforced: boolean
  readonly reasons: readonly Reason[]
  readonly inspection: Inspection
  /** There where the request made a claim that was attested. */
  readonly attestation?: Attestation
}
