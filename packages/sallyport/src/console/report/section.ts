/** A part of a report; the terminal and the page show it. */
export interface Section {
  readonly title: string
  readonly sentences: readonly string[]
  /** The first column names a row; the others are figures. */
  readonly table?: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } | undefined
  /** Names the operator of crawlers that the section is about. */
  readonly operator?: string | undefined
}

type Column<Row> = readonly [head: string, cell: (row: Row) => string]

export function makeTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): NonNullable<Section['table']> {
  return { head: columns.map(([head]) => head), rows: rows.map((row) => columns.map(([, cell]) => cell(row))) }
}

export function tableSection<Row>(title: string, rows: readonly Row[], columns: readonly Column<Row>[]): Section {
  return { title, sentences: [], table: makeTable(rows, columns) }
}
