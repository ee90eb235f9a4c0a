import { ADDRESS_PARTS } from './labels.ts'
import { stripControls } from './values.ts'

/** Holds one line of a port-43 answer. */
export interface Line {
  /** Counts white space before the text. */
  readonly indent: number
  /** Holds the text without surrounding white space; '' for an empty line. */
  readonly text: string
  /** Written in the form of `labelKey`; '' if there is no label. */
  readonly label: string
  /** Holds the text after the label, or the whole text if there is no label. */
  readonly value: string
  /** True for a comment or a ruled line, which describes the answer and never the domain. */
  readonly comment: boolean
}

/** Twice the length of the longest real answers; the rest is not read, so that noise costs little more than an answer. */
const MAX_CHARACTERS = 24_576
const MAX_LINES = 600
const MAX_LINE_LENGTH = 1_000
const MAX_LABEL_LENGTH = 64

/** Splits an answer into lines, bounded in number and length; takes time linear in the length of each line. */
export function splitLines(text: string, isLabel: (key: string) => boolean): readonly Line[] {
  const lines = stripControls(text.slice(0, MAX_CHARACTERS)).split(/\r\n|\r|\n/, MAX_LINES)
  const read = lines.flatMap((line) => severalIn(parseLine(line.slice(0, MAX_LINE_LENGTH), isLabel), isLabel))
  return afterIana(read).map(withProvince)
}

/** Returns the registry's answer if IANA's answer about the top-level domain precedes it: clients print both. */
function afterIana(lines: readonly Line[]): readonly Line[] {
  const rest = lines.slice(lines.findIndex(({ label, value }) => label === 'source' && value === 'IANA') + 1)
  // For .int IANA is the registry itself, and may answer a second question.
  const isOther = rest.some(({ text }) => text !== '') && !rest.some(({ text }) => text === '% IANA WHOIS server')
  return isOther ? rest : lines
}

/** A `State` among the lines of a postal address belongs to the address; it is not the state of the domain. */
function withProvince(line: Line, at: number, lines: readonly Line[]): Line {
  const isProvince =
    line.label === 'state' && [at - 1, at + 1].some((beside) => ADDRESS_PARTS.has(lines[beside]?.label ?? ''))
  return isProvince ? { ...line, label: 'province' } : line
}

/** Finds a further label within a value, after a gap or a mark: `2001-02-03, Expires: 2031-02-03`. */
const FURTHER = /(?: {2}|[\t,;|]) ?([a-z][a-z ]{2,30}):(?=\s)/i
const MAX_ON_LINE = 8

/** The facts of one line: a known label may be followed by others on the same line. */
function severalIn(line: Line, isLabel: (key: string) => boolean): readonly Line[] {
  const found: Line[] = []
  let rest = line
  while (rest.label !== '' && isLabel(rest.label) && found.length < MAX_ON_LINE) {
    const match = FURTHER.exec(rest.value)
    const label = labelKey(match?.[1] ?? '')
    if (match === null || !isLabel(label)) break
    found.push({ ...rest, value: rest.value.slice(0, match.index).trim() })
    rest = { ...rest, label, value: rest.value.slice(match.index + match[0].length).trim() }
  }
  return found.length === 0 ? [line] : [...found, rest]
}

function parseLine(line: string, isLabel: (key: string) => boolean): Line {
  const text = line.trim()
  const indent = line.length - line.trimStart().length
  const comment = /^(?:%|#|\*(?!\* [A-Z])|;|--|>>>)/.test(text)
  const [label, value] = comment ? ['', text] : split(text.replace(/^\*\* /, ''), isLabel)
  return { indent, text, label, value, comment }
}

/** Splits class, attribute, type and value of RWhois (RFC 2167 3.3): `domain:Created:20010203`, `domain:Admin-Contact;I:1`. */
const RWHOIS = /^([a-z]{1,20}):([A-Z][\w-]{0,40})(?:;[A-Z])?:(.*)/

/** Splits `Label: value`, `label.......: value`, `[Label] value`, `a. [Label] value`, and a known label before a gap or dots. */
function split(text: string, isLabel: (key: string) => boolean): readonly [label: string, value: string] {
  const [, kind, attribute, rest = ''] = RWHOIS.exec(text) ?? []
  if (attribute !== undefined) return [labelKey(kind === 'domain' ? attribute : `${kind} ${attribute}`), rest.trim()]
  const open = text.startsWith('[') ? 0 : /^[a-z]\.? ?\[/.test(text) ? text.indexOf('[') : -1
  if (open >= 0) {
    const close = text.indexOf(']', open)
    if (close > 0 && close - open <= MAX_LABEL_LENGTH)
      return [labelKey(text.slice(open + 1, close)), text.slice(close + 1).replace(/^[\s.:]{1,64}/, '')]
  }
  const gap = text.search(/\t| {2}|\.{3}/)
  if (gap > 0 && gap <= MAX_LABEL_LENGTH) {
    const key = labelKey(text.slice(0, gap))
    if (isLabel(key)) return [key, text.slice(gap).replace(/^[\s:.]+/, '')]
  }
  const colon = text.indexOf(':')
  if (colon <= 0 || text.startsWith('//', colon + 1)) return ['', text]
  // Dots that lead from the label to its value do not count as part of the label.
  const label = text.slice(0, colon).replace(/[.\s]{1,64}$/, '')
  return label.length > MAX_LABEL_LENGTH
    ? ['', text]
    : [labelKey(label), text.slice(colon + 1).replace(/^[\s.]{1,64}/, '')]
}

/** Writes a label as the tables do: lower case, marks as spaces, without text in brackets or a number at the end. */
export function labelKey(label: string): string {
  return label
    .slice(0, MAX_LABEL_LENGTH)
    .toLowerCase()
    .replace(/\([^)]{0,60}\)/g, ' ')
    .replace(/[\s._*#/()[\]\\-]+/g, ' ')
    .trim()
    .replace(/ ?\d{1,2}$/, '')
}
