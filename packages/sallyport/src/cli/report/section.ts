import type { Section } from '#console'
import { bold, columns } from '../terminal/terminal.ts'

/** Limits a name, in characters: a row must fit beside its figures. */
const LONGEST_NAME = 48

function shorten(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}

/** Returns a section as text for a terminal. */
export function sectionText({ title, sentences, table }: Section): string {
  const rows = table?.rows.map(([name = '', ...figures]) => [shorten(name), ...figures]) ?? []
  return [
    bold(title),
    ...sentences,
    ...(table === undefined || rows.length === 0 ? [] : [columns(rows, table.head)]),
  ].join('\n')
}
