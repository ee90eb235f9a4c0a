import { METHODS } from 'node:http'
import { memberOf } from '../members.ts'
import type { AccessFormat, ReadLine } from './format.ts'
import { addressIn, percentDecoded, type Reading, readingOf } from './reading.ts'

/** The extended format of W3C: a line `#Fields:` names the columns of those below it. CloudFront writes them as members of JSON too. */
export const W3C_FORMAT: AccessFormat = {
  name: 'w3c',
  of: 'IIS, CloudFront',
  cures: {
    userAgent: 'Its column is cs(User-Agent), which IIS logs where it is chosen.',
    columns: 'The line #Fields: at the start of the log names them: keep it.',
  },
  open: () => w3cReader(),
}

function w3cReader(): ReadLine {
  let columns: readonly string[] = []
  let day: string | undefined
  return (line, record) => {
    if (record !== undefined) {
      return Object.hasOwn(record, 'c-ip') ? rowReading((name) => textIn(memberOf(record, name)), day) : undefined
    }
    if (line.startsWith('#')) {
      const [, name, value = ''] = /^#(Fields|Date|Software|Version|Start-Date|End-Date|Remark):(.*)$/.exec(line) ?? []
      if (name === 'Fields') columns = value.trim().split(/\s+/)
      if (name === 'Date') day = value.trim().split(' ')[0]
      return name === undefined ? undefined : 'comment'
    }
    // CloudFront has tabs between, IIS spaces, and none within.
    const cells = line.trimEnd().split(line.includes('\t') ? '\t' : ' ')
    if (columns.length === 0) return isRow(cells) ? { lacks: 'columns' } : undefined
    if (cells.length !== columns.length) return undefined
    return rowReading((name) => cells[columns.indexOf(name)], day)
  }
}

/** Whether it is a row by its look: a day, a time, and somewhere an address and a method. */
function isRow([day = '', time = '', ...cells]: readonly string[]): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || !/^\d\d:\d\d:\d\d$/.test(time)) return false
  return cells.some((cell) => addressIn(cell) !== undefined) && cells.some((cell) => METHODS.includes(cell))
}

function rowReading(written: (column: string) => string | undefined, day: string | undefined): Reading {
  const cell = (name: string): string | undefined => (written(name) === '-' ? '' : written(name))
  const query = cell('cs-uri-query')
  const target = cell('cs-uri') || cell('cs-uri-stem')
  return readingOf({
    ip: cell('c-ip'),
    method: cell('cs-method'),
    target: target && query ? `${target}?${query}` : target,
    userAgent: userAgentOf(cell('cs(User-Agent)')),
    at: [`${cell('date') ?? day} ${cell('time')}`, cell('timestamp')],
    status: cell('sc-status'),
  })
}

function textIn(value: unknown): string | undefined {
  return value === undefined ? undefined : String(value ?? '-')
}

/** IIS writes `+` for a space, CloudFront `%20`, at times twice over. */
function userAgentOf(written: string | undefined): string | undefined {
  if (written === undefined) return undefined
  if (!/%(?:25)?20/.test(written)) return written.replace(/\+(?!https?:)/g, ' ')
  const once = percentDecoded(written)
  return once.includes('%20') ? percentDecoded(once) : once
}
