import { parseHostOrPrefix } from '../address/prefix.ts'
import { attempt } from '../attempt.ts'
import { isRecord } from '../is-record.ts'

/** Lists are published in these forms; `auto` recognises them by their start. */
export const LIST_FORMATS = ['auto', 'lines', 'csv', 'json'] as const
export type ListFormat = (typeof LIST_FORMATS)[number]

/** Columns and members with an entry have these names, without `_`, `-` and blanks: of CrowdSec, Spamhaus, clouds and crawlers. */
const ENTRY_NAMES: readonly string[] =
  'ip cidr value asn address network prefix range subnet ipprefix ipv4prefix ipv6prefix ipaddress iprange ipcidr cidrblock sourceip srcip clientip remoteip pattern'.split(
    ' ',
  )

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, '')
}

/** Limits the characters of JSON, because it is parsed at once: a longer text would block requests. */
const MAX_JSON = 8 * 2 ** 20

/** Matches JSON that holds entries, or the Python in which fail2ban-client prints them. */
const JSON_TEXT = /^\s*(?:null\s*$|\[\s*(?:\]|[[{"']))/

/**
 * Returns the entries of a list's text, each a line; `undefined` for a text in another form. Lines that are not entries stay, comments too.
 */
export function splitList(text: string, format: ListFormat = 'auto'): Iterable<string> | undefined {
  const bare = text.startsWith('\uFEFF') ? text.slice(1) : text
  if (format === 'lines') return splitLines(bare)
  if (format === 'json' || (format === 'auto' && (JSON_TEXT.test(bare) || isObject(bare)))) {
    const value = bare.length > MAX_JSON ? undefined : parseJson(bare)
    if (value !== undefined) return mayHold(value) ? entriesIn(value) : undefined
    if (bare.length > MAX_JSON) return undefined
    return format === 'json' && !bare.trimStart().startsWith('{') ? undefined : splitLines(bare)
  }
  const column = findColumn(bare, format)
  if (column !== undefined) return readCells(splitLines(bare), column)
  return format === 'csv' ? undefined : splitLines(bare)
}

/** Tells one object from many: the object of the first line may have others after it. */
function isObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false
  const first = firstLine(text)
  return first.length > MAX_LINE || first.trimEnd() === text.trimEnd() || parseJson(first) === undefined
}

function firstLine(text: string): string {
  return text.slice(0, text.indexOf('\n') + 1 || text.length)
}

/** Limits the nested objects in which entries are searched: a text of eight million may be nested deeper than the stack is. */
const MAX_DEPTH = 64

/** Reports whether a value can be a list: a server's error has neither an entry nor a place for entries. */
function mayHold(value: unknown, depth = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true
  const members = Object.entries(value)
  return (
    members.length === 0 ||
    members.some(
      ([name, member]) =>
        ENTRY_NAMES.includes(plainName(name)) ||
        (typeof member === 'object' && depth > 0 && mayHold(member, depth - 1)),
    )
  )
}

function* splitLines(text: string): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start)
    yield text.slice(start, end < 0 ? text.length : end)
    start = end < 0 ? text.length : end + 1
  }
}

/** Parses JSON, or the text that Python prints. */
export function parseJson(text: string): unknown {
  return attempt((): unknown => JSON.parse(text)) ?? attempt(() => JSON.parse(text.replaceAll("'", '"')))
}

/** Yields the entries of a JSON value, however deep; of a CrowdSec alert only the decisions, and none that is simulated. */
export function* entriesIn(value: unknown): Iterable<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const inner of value) yield* entriesIn(inner)
  else if (isRecord(value)) yield* readObject(value)
}

function* readObject(object: object): Iterable<string> {
  const members = Object.entries(object)
  const found = new Map(members.map(([name, value]) => [plainName(name), value]))
  if (found.has('decisions')) yield* entriesIn(found.get('decisions'))
  else if (found.get('simulated') === true) return
  else {
    const name = ENTRY_NAMES.find((known) => ['string', 'number'].includes(typeof found.get(known)))
    // A text beside other members is about the list: a date, a name.
    if (name === undefined) yield* entriesIn(members.flatMap(([, value]) => (typeof value === 'object' ? [value] : [])))
    else yield writeEntry(found.get(name), name === 'asn' ? 'as' : found.get('scope'))
  }
}

/** Writes a value within its scope: `AS` with 64500 is AS64500, a country is not an entry. */
function writeEntry(value: unknown, scope: unknown): string {
  const written = String(value)
  const kind = String(scope ?? '').toLowerCase()
  if (kind === 'as') return /^\d+$/.test(written) ? `AS${written}` : written
  return kind === '' || kind === 'ip' || kind === 'range' ? written : `${kind}:${written}`
}

/** A longer line is not a row. */
const MAX_LINE = 65_536

interface Column {
  readonly separator: ',' | ';' | '\t'
  readonly at: number
  /** This column tells whether a decision is only simulated. */
  readonly simulated: number
}

/** Finds the column of entries, where the first line names columns. */
function findColumn(text: string, format: ListFormat): Column | undefined {
  const header = firstLine(text).trim()
  if (header.startsWith('#') || header.length > MAX_LINE) return undefined
  const separator = ([',', ';', '\t'] as const).find((one) => header.includes(one)) ?? ','
  const names = split(header, separator).map(plainName)
  const at = names.findIndex((name) => ENTRY_NAMES.includes(name))
  if (at >= 0 && (names.length > 1 || format === 'csv')) return { separator, at, simulated: names.indexOf('simulated') }
  const first = names.findIndex(parseHostOrPrefix)
  return format === 'csv' && first >= 0 ? { separator, at: first, simulated: -1 } : undefined
}

function* readCells(lines: Iterable<string>, { separator, at, simulated }: Column): Iterable<string> {
  let isHeader = true
  for (const line of lines) {
    const cells = line.length > MAX_LINE ? [] : split(line.trim(), separator)
    const cell = cells[at] ?? ''
    if (isHeader && parseHostOrPrefix(cell) === undefined) yield ''
    else if (/^\s*#/.test(line) || cells[simulated] === 'true') yield ''
    // CrowdSec writes the scope before the value.
    else yield /^(?:ip|range):/i.test(cell) ? cell.slice(cell.indexOf(':') + 1) : cell.replace(/^AS:(?:AS)?/i, 'AS')
    isHeader = false
  }
}

/** Splits a line into cells; a quoted cell may contain the separator. */
function split(line: string, separator: string): readonly string[] {
  const cells: string[] = []
  let cell = ''
  let quoted = false
  for (const character of line) {
    if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) {
      cells.push(cell.trim())
      cell = ''
    } else cell += character
  }
  return [...cells, cell.trim()]
}
