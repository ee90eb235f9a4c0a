/** A table of a report. The first column names a row; the others are figures. */
export interface SectionTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A part of a report; the terminal and the page show it. */
export interface Section {
  readonly title: string
  readonly sentences: readonly string[]
  readonly table?: SectionTable | undefined
  /** Names the operator of crawlers that the section is about. */
  readonly operator?: string | undefined
}
