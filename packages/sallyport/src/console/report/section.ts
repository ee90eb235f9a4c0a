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

/** Describes a column: its heading, and its cell in a row. */
type Column<Row> = readonly [head: string, cell: (row: Row) => string]

export function makeTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): SectionTable {
  return { head: columns.map(([head]) => head), rows: rows.map((row) => columns.map(([, cell]) => cell(row))) }
}

/** Makes a section of a table alone. */
export function tableSection<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Section {
  return { title, sentences: [], table: makeTable(rows, columns) }
}
