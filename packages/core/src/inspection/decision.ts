import type { Action } from '../vocabulary.ts'
import type { Inspection } from './inspection.ts'

/** Why an action was decided: a stable id for programs, a sentence for people, the data it rests on. */
export interface Reason {
  readonly id: string
  readonly text: string
  /** Id of the data source that spoke, and its date, where one did. */
  readonly source?: string
  readonly date?: string
  /** Log-odds that a signal of an agent verdict carries; absent where the reason alone decides. */
  readonly weight?: number
}

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
