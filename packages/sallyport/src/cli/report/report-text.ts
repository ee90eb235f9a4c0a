import { counted } from '@sallyport/core'
import type { Report, ReportPart, ReportTable } from '@sallyport/engine'
import { bold, columns, dim } from '../terminal/terminal.ts'

/** Titles of the report's parts. */
export const PART_TITLES = {
  carriedOut: 'Carried out',
  wouldHave: 'Would have been done, by monitor mode or by a rule on trial',
} as const

/** The tables of a part, with what their rows are. */
export const TABLE_TITLES = {
  byRule: 'rule',
  byClass: 'class',
  byOperator: 'operator',
  byPath: 'path',
} as const satisfies Partial<Record<keyof ReportPart, string>>

const NONE_NAMED = 'none named'

/** A report for a terminal. */
export function reportText(report: Report): string {
  const { carriedOut, wouldHave } = report
  const parts = Object.entries({ carriedOut, wouldHave }) as [keyof typeof PART_TITLES, ReportPart][]
  return [
    headOf(report),
    ...refusalsOf(report),
    ...parts.map(([name, part]) => partText(PART_TITLES[name], part)),
  ].join('\n\n')
}

/** `1,204 requests from 2026-11-01T00:00:00.000Z until …; 1,100 allowed` */
export function headOf({ requests, allowed, from, until }: Report): string {
  if (requests === 0 || from === undefined || until === undefined) return 'No requests in this log.'
  return `${counted(requests, 'request')} from ${from} until ${until}; ${allowed.toLocaleString('en-US')} allowed`
}

export function rowName(name: string): string {
  return name === '' ? NONE_NAMED : name
}

function refusalsOf({ refusals }: Report): readonly string[] {
  const rows = Object.entries(refusals).map(([cause, count]) => [cause, count.toLocaleString('en-US')])
  return rows.length === 0 ? [] : [`${bold('Refused by limits and checks')}\n${columns(rows)}`]
}

function partText(title: string, part: ReportPart): string {
  const head = `${bold(title)}: ${counted(part.blocked, 'block')}, ${counted(part.flagged, 'flag')}`
  if (part.blocked + part.flagged === 0) return head
  const tables = Object.entries(TABLE_TITLES).map(([key, name]) =>
    tableText(name, part[key as keyof typeof TABLE_TITLES]),
  )
  return [head, ...tables].join('\n\n')
}

function tableText(name: string, { rows, others }: ReportTable): string {
  const shown = rows.map(({ name, blocked, flagged, examples }) => [
    shortened(rowName(name)),
    String(blocked),
    String(flagged),
    examples[0]?.requestId ?? '',
  ])
  const more = others === 0 ? '' : `\n${dim(`and ${counted(others, 'request')} of other rows`)}`
  return `${columns(shown, [name, 'blocked', 'flagged', 'for example'])}${more}`
}

/** In characters: a row has to fit beside its counts. */
const LONGEST_NAME = 48

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME - 1)}…`
}
