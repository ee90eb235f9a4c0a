import { counted } from '@sallyport/core'
import {
  type Report,
  type ReportedChallenges,
  type ReportPart,
  type ReportSums,
  type ReportTable,
  reportedActions,
} from '@sallyport/engine'
import { bold, columns, dim } from '../terminal/terminal.ts'
import { shortened } from './section.ts'

/** Titles of the report's parts. */
const PART_TITLES = {
  carriedOut: 'Carried out',
  wouldHave: 'Would have been done, by monitor mode or by a rule on trial',
} as const

/** The tables of a part, with what their rows are. */
const TABLE_TITLES = {
  byVisitor: 'visitor',
  byRule: 'rule',
  byClass: 'class',
  byOperator: 'crawler or network',
  byPath: 'path',
} as const satisfies Partial<Record<keyof ReportPart, string>>

const NONE_NAMED = 'none named'

/** A report for a terminal. */
export function reportText(report: Report, isAlone = true): string {
  const { carriedOut, wouldHave } = report
  const parts = Object.entries({ carriedOut, wouldHave }) as [keyof typeof PART_TITLES, ReportPart][]
  return [
    headOf(report),
    ...(isAlone ? visitorsOf(report) : []),
    ...refusalsOf(report),
    ...challengesOf(report),
    ...parts.map(([name, part]) => partText(PART_TITLES[name], part)),
  ].join('\n\n')
}

/** `1,204 requests from 2026-11-01T00:00:00.000Z until …; 1,100 allowed` */
function headOf({ requests, allowed, from, until }: Report): string {
  if (requests === 0 || from === undefined || until === undefined) return 'No requests in this log.'
  return `${counted(requests, 'request')} from ${from} until ${until}; ${allowed.toLocaleString('en-US')} allowed`
}

/** The sentence about affected visitors of a log without a tally, which may hold few of the allowed requests. */
function visitorsOf({ visitors: { person, unclear } }: Report): readonly string[] {
  if (person.clients + unclear.clients === 0) return []
  const text = ({ clients, affected, wouldAffect }: typeof person): string =>
    `${affected.toLocaleString('en-US')} of ${clients.toLocaleString('en-US')}${wouldAffect === affected ? '' : `, and ${wouldAffect.toLocaleString('en-US')} if all were enforced`}`
  return [
    `Visitors affected: ${text(person)} people in this log. Cannot tell: ${text(unclear)} other clients that look like browsers.`,
  ]
}

const NAMES: Readonly<Record<string, string>> = {
  '': NONE_NAMED,
  person: 'people',
  unclear: 'cannot tell',
  program: 'programs',
}

function rowName(name: string): string {
  return NAMES[name] ?? name
}

function refusalsOf({ refusals }: Report): readonly string[] {
  const rows = Object.entries(refusals).map(([cause, count]) => [cause, count.toLocaleString('en-US')])
  return rows.length === 0 ? [] : [`${bold('Refused by limits and checks')}\n${columns(rows)}`]
}

/** Columns of the table of challenges. */
const CHALLENGE_HEAD = ['rule', 'challenged', 'solved', 'share', 'failed', 'left', 'not shown'] as const

/** One rule's challenges as its cells. */
function challengeCells(row: ReportedChallenges): readonly string[] {
  const { rule, asked, solved, failed, left, unshown } = row
  const causes = Object.entries(failed).map(([cause, count]) => `${count.toLocaleString('en-US')} ${cause}`)
  const numbers = [left, unshown].map((number) => number.toLocaleString('en-US'))
  const first = [asked, solved].map((number) => number.toLocaleString('en-US'))
  return [rowName(rule), ...first, shareOf(solved, asked), causes.join(', ') || '0', ...numbers]
}

/** Sentences about rules that challenge people. */
function challengeNotes({ challenges }: Pick<Report, 'challenges'>): readonly string[] {
  return challenges
    .filter(({ mostSolve }) => mostSolve)
    .map(
      ({ rule, asked, solved }) =>
        `The rule "${rule}" challenges people: most solve it (${solved.toLocaleString('en-US')} of ${counted(asked, 'challenge')}), as people do.`,
    )
}

/** `67%`; nothing where nobody was challenged. */
export function shareOf(part: number, whole: number): string {
  return whole === 0 ? '' : `${Math.round((part / whole) * 100)}%`
}

/** The columns of actions, with their titles; rare ones are left out where a part has none. */
function columnsOf(part: ReportSums): readonly (readonly [column: keyof ReportSums, title: string])[] {
  return COLUMNS.filter(([column]) => !RARE.has(column) || part[column] > 0)
}

const COLUMNS = [
  ['blocked', 'blocked'],
  ['throttled', 'throttled'],
  ['unshown', 'challenge not shown'],
  ['asked', 'challenged'],
  ['redirected', 'redirected'],
  ['flagged', 'flagged'],
] as const satisfies readonly (readonly [keyof ReportSums, string])[]

const RARE: ReadonlySet<keyof ReportSums> = new Set(['throttled', 'unshown', 'redirected'])

/** `3 blocked, 12 challenged, 4 flagged` */
function sumsOf(part: ReportSums): string {
  return columnsOf(part)
    .map(([column, title]) => `${part[column].toLocaleString('en-US')} ${title}`)
    .join(', ')
}

function challengesOf(report: Report): readonly string[] {
  if (report.challenges.length === 0) return []
  const rows = report.challenges.map((row) => {
    const [rule = '', ...cells] = challengeCells(row)
    return [shortened(rule), ...cells]
  })
  return [[bold('Challenges'), columns(rows, CHALLENGE_HEAD), ...challengeNotes(report)].join('\n')]
}

function partText(title: string, part: ReportPart): string {
  const head = `${bold(title)}: ${sumsOf(part)}`
  if (reportedActions(part) === 0) return head
  const tables = Object.entries(TABLE_TITLES).map(([key, name]) =>
    tableText(name, part[key as keyof typeof TABLE_TITLES], columnsOf(part)),
  )
  return [head, ...tables].join('\n\n')
}

function tableText(name: string, { rows, others }: ReportTable, shown: ReturnType<typeof columnsOf>): string {
  const cells = rows.map((row) => [
    shortened(rowName(row.name)),
    ...shown.map(([column]) => String(row[column])),
    row.examples[0]?.requestId ?? '',
  ])
  const more = others === 0 ? '' : `\n${dim(`and ${counted(others, 'request')} of other rows`)}`
  return `${columns(cells, [name, ...shown.map(([, title]) => title), 'for example'])}${more}`
}
