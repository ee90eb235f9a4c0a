import { bold, columns } from '../terminal/terminal.ts'
import { escaped } from './html.ts'

/** A table of a report. The first column names a row; the others are figures. */
export interface SectionTable {
  readonly head: readonly [string, ...string[]]
  readonly rows: readonly (readonly string[])[]
  /** How long the bar of each row is, 0 to 1; absent: there are none. */
  readonly bars?: readonly number[] | undefined
}

/** A part of a report, for a terminal and for a page. */
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

export function sectionHtml({ title, sentences, table }: Section): string {
  const said = sentences.map((sentence) => `<p>${escaped(sentence)}</p>`).join('')
  return `<section><h2>${escaped(title)}</h2>${said}${table === undefined ? '' : tableHtml(table)}</section>`
}

function tableHtml({ head, rows, bars }: SectionTable): string {
  if (rows.length === 0) return ''
  const heads = head.map((name, at) => `<th scope="col"${at === 0 ? '' : ' class="count"'}>${escaped(name)}</th>`)
  const lines = rows.map(([name = '', ...figures], row) => {
    const length = bars?.[row]
    const bar = length === undefined ? '' : `<span class="share" style="width:${(length * 100).toFixed(1)}%"></span>`
    const cells = figures.map((figure) => `<td class="count">${escaped(figure)}</td>`)
    return `<tr><th scope="row">${escaped(name)}${bar}</th>${cells.join('')}</tr>`
  })
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${lines.join('')}</tbody></table>`
}
