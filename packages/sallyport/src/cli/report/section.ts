import { bold, columns } from '../terminal/terminal.ts'

/** A table of a report. The first column names a row; the others are figures. */
export interface SectionTable {
  readonly head: readonly [string, ...string[]]
  readonly rows: readonly (readonly string[])[]
}

/** A part of a report. */
export interface Section {
  readonly title: string
  readonly sentences: readonly string[]
  readonly table?: SectionTable | undefined
}

/** In characters: a row has to fit beside its figures. */
const LONGEST_NAME = 48

export function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

export function sectionText({ title, sentences, table }: Section): string {
  const rows = table?.rows.map(([name = '', ...figures]) => [shortened(name), ...figures]) ?? []
  return [
    bold(title),
    ...sentences,
    ...(table === undefined || rows.length === 0 ? [] : [columns(rows, table.head)]),
  ].join('\n')
}
