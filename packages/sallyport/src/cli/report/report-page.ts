import { counted } from '@sallyport/core'
import { type LogLine, type Report, type ReportPart, type ReportTable, reportedActions } from '@sallyport/engine'
import { escaped } from './html.ts'
import {
  CHALLENGE_HEAD,
  challengeCells,
  challengeNotes,
  columnsOf,
  headOf,
  PART_TITLES,
  rowName,
  sumsOf,
  TABLE_TITLES,
  visitorsOf,
} from './report-text.ts'
import { type Section, sectionHtml } from './section.ts'

/** In every page that was made here: such a file is written again without asking. */
export const REPORT_MARK = '<meta name="generator" content="sallyport report">'

/** A report as one HTML page that loads nothing and runs nothing: what was counted, and what the log says, as far as each is there. */
export function reportPage(sections: readonly Section[], log: Report | undefined): string {
  const counted = sections.length === 0 ? [] : ['<h1>What was counted</h1>', ...sections.map(sectionHtml)]
  const body = [...counted, ...(log === undefined ? [] : logParts(log, sections.length === 0))].join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${REPORT_MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Sallyport: what was decided</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

function logParts(report: Report, isAlone: boolean): readonly string[] {
  const { carriedOut, wouldHave, refusals } = report
  return [
    `<h1>What was decided</h1><p>${escaped(headOf(report))}</p>`,
    ...(isAlone ? visitorsOf(report).map((sentence) => `<p>${escaped(sentence)}</p>`) : []),
    refusalsTable(refusals),
    challengesTable(report),
    partSection(PART_TITLES.wouldHave, wouldHave),
    partSection(PART_TITLES.carriedOut, carriedOut),
  ]
}

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --bar: #b3402f; --soft: #b9892b; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 500; }
thead th { border-top: 0; font-size: .85rem; opacity: .75; }
.count { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; width: 5rem; }
.share { display: block; height: .3rem; border-radius: .15rem; background: var(--bar); margin-top: .3rem; min-width: 2px; }
.share.flag { background: var(--soft); }
.examples { font-size: .85rem; opacity: .85; }
.examples code { font-size: .8rem; }
`

function refusalsTable(refusals: Report['refusals']): string {
  const rows = Object.entries(refusals).map(
    ([cause, count]) => `<tr><th scope="row">${escaped(cause)}</th>${cell(count)}</tr>`,
  )
  if (rows.length === 0) return ''
  return `<h2>Refused by limits and checks</h2><table><thead><tr><th scope="col">cause</th><th scope="col" class="count">requests</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function challengesTable(report: Report): string {
  if (report.challenges.length === 0) return ''
  const head = CHALLENGE_HEAD.map((name, at) => `<th scope="col"${at === 0 ? '' : ' class="count"'}>${name}</th>`)
  const rows = report.challenges.map((row) => {
    const [rule = '', ...cells] = challengeCells(row).map(escaped)
    return `<tr><th scope="row">${rule}</th>${cells.map((text) => `<td class="count">${text}</td>`).join('')}</tr>`
  })
  const notes = challengeNotes(report).map((note) => `<p>${escaped(note)}</p>`)
  return `<section><h2>Challenges</h2><table><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>${notes.join('')}</section>`
}

function partSection(title: string, part: ReportPart): string {
  const sums = `<p>${sumsOf(part)}.</p>`
  const tables = Object.entries(TABLE_TITLES).map(([key, name]) =>
    table(name, part[key as keyof typeof TABLE_TITLES], columnsOf(part)),
  )
  const shown = reportedActions(part) === 0 ? '' : tables.join('\n')
  return `<section><h2>${escaped(title)}</h2>${sums}${shown}</section>`
}

function table(name: string, { rows, others }: ReportTable, shown: ReturnType<typeof columnsOf>): string {
  const most = Math.max(1, ...rows.map(reportedActions))
  const lines = rows.map((row) => {
    const share = (reportedActions(row) / most) * 100
    const bar = `<span class="share${row.blocked + row.throttled === 0 ? ' flag' : ''}" style="width:${share.toFixed(1)}%"></span>`
    const counts = shown.map(([column]) => cell(row[column])).join('')
    return `<tr><th scope="row">${escaped(rowName(row.name))}${bar}</th>${counts}<td class="examples">${row.examples.map(example).join('<br>')}</td></tr>`
  })
  const more = others === 0 ? '' : `<p>And ${counted(others, 'request')} of other rows.</p>`
  const titles = shown.map(([, title]) => `<th scope="col" class="count">${title}</th>`).join('')
  return `<table><caption>By ${escaped(name)}</caption><thead><tr><th scope="col">${escaped(name)}</th>${titles}<th scope="col">for example</th></tr></thead><tbody>${lines.join('')}</tbody></table>${more}`
}

function cell(count: number): string {
  return `<td class="count">${count.toLocaleString('en-US')}</td>`
}

function example({ method, host, path, client = '', networkClass = '', requestId }: LogLine): string {
  return `${escaped(`${method} ${host}${path} ${client} ${networkClass}`)} <code>${escaped(requestId)}</code>`
}
