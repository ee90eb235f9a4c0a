/** Says why an action was decided: a stable id for programs, a sentence for people, the data it rests on. */
export interface Reason {
  readonly id: string
  readonly text: string
  /** The reason rests on the data source of this id, of this date; absent where it rests on none. */
  readonly source?: string | undefined
  readonly date?: string | undefined
  /** Adds log-odds to an agent verdict; absent where the reason alone decides. */
  readonly weight?: number | undefined
}
