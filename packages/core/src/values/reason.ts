/** Why an action was decided: a stable id for programs, a sentence for people, the data it rests on. */
export interface Reason {
  readonly id: string
  readonly text: string
  /** Id of the data source that it rests on, and its date, where there is one. */
  readonly source?: string | undefined
  readonly date?: string | undefined
  /** Log-odds that a signal of an agent verdict carries; absent where the reason alone decides. */
  readonly weight?: number | undefined
}
