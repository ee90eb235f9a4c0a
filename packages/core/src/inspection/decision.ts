import type { Action } from '../vocabulary.ts'
import type { Inspection } from './inspection.ts'

/** Why an action was decided: a stable id for programs, a sentence for people, the data it rests on. */
export interface Reason {
  readonly id: string
  readonly text: string
  /** Id of the data source that spoke, and its date, where one did. */
  readonly source?: string
  readonly date?: string
}

/**
 * What to do about a request. `action` is what the policy decided; `enforced` is false only where monitor mode keeps
 * a flag or a block from being carried out.
 */
export interface Decision {
  readonly action: Action
  readonly enforced: boolean
  readonly reasons: readonly Reason[]
  readonly inspection: Inspection
}
