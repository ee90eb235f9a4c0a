import { stripVTControlCharacters } from 'node:util'
import { recordIn, textOf } from './members.ts'

/** Mark that editors and Windows write before UTF-8; where letters are bytes, three of them. */
const BOM = /^(?:\ufeff|\u00ef\u00bb\u00bf)/

/**
 * Lines as their program wrote them, without those that are empty: a collector may have put them into lines of its own.
 * `undefined` for one that is too long.
 */
export async function* cleanLines(lines: AsyncIterable<string | undefined>): AsyncIterable<string | undefined> {
  for await (const line of lines) {
    if (line === undefined) yield undefined
    else if (line.trim() !== '') yield unwrapped(line.replace(BOM, '').trimEnd())
  }
}

/** Collectors within one another, and lines within those: Docker's in syslog's, JSON in Kubernetes'. */
const MAX_LAYERS = 4

function unwrapped(line: string): string {
  let text = line
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const within = withoutBeginning(text) ?? withinObject(text)
    if (within === undefined) break
    text = within
  }
  return text
}

const ISO = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d)`
/** `short`, `short-precise`, `short-full` and `short-unix` of journalctl; the first is syslog's too. */
const JOURNAL = String.raw`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \S+|\d{10}\.\d{6}`

/** Beginnings that collectors put before a line. */
const BEGINNINGS = [
  // Kubernetes.
  new RegExp(String.raw`^${ISO} std(?:out|err) [FP]\s`),
  /^\[pod\/[^\]\s]+\] /,
  // Docker with its times: an address or an object is behind it, and no name of a load balancer.
  new RegExp(String.raw`^${ISO} (?=\{|[\da-f]+[.:])`),
  // Compose.
  /^[\w.-]+ +\| /,
  // RFC 5424; Heroku leaves the structured data out.
  new RegExp(String.raw`^(?:<\d{1,3}>)?1 (?:${ISO}|-) \S+ \S+ \S+ \S+ (?:- |(?:\[[^\]]*\])+ )?`),
  // Syslog and journald.
  new RegExp(String.raw`^(?:<\d{1,3}>)?(?:${ISO}|${JOURNAL}) \S+ [\w./-]+(?:\[\d+\])?: `),
  // `heroku logs`.
  new RegExp(String.raw`^${ISO} (?:app|heroku)\[[\w.-]+\]: `),
  // Fluentd, with a tag.
  new RegExp(String.raw`^${ISO}\s[\w.-]+(?::\s|\t)(?=\{)`),
]

function withoutBeginning(line: string): string | undefined {
  // Compose colours its names.
  const plain = line.startsWith('\u001b') ? stripVTControlCharacters(line) : line
  for (const form of BEGINNINGS) {
    const [beginning] = form.exec(plain) ?? []
    if (beginning !== undefined) return plain.slice(beginning.length)
  }
  return withoutFile(plain) ?? (plain === line ? undefined : plain)
}

/**
 * A line without the name of its file that grep puts before it; a host may have a port there. A number of the line is left:
 * it could be the beginning of an address.
 */
function withoutFile(line: string): string | undefined {
  const [file = ''] = /^[\w./-]+:/.exec(line) ?? []
  const rest = line.slice(file.length)
  return !['.log:', '.log.', '.log-'].some((name) => file.includes(name)) || /^\d{1,5} /.test(rest) ? undefined : rest
}

/** The line in an object of a collector's; the message of a program that logs JSON is for people, and no line. */
function withinObject(line: string): string | undefined {
  if (!line.startsWith('{') || !/"(?:log|message|MESSAGE|textPayload)"/.test(line)) return undefined
  const record = recordIn(line)
  const text = textOf(record, 'log', 'MESSAGE', 'textPayload')?.trim()
  if (text?.startsWith('{') || text?.includes(' ')) return text
  const message = textOf(record, 'message')?.trim()
  return message !== undefined && isLine(message) ? message : undefined
}

/** Whether a text begins as a line of a log does: with an object, a time, or words and a time in brackets. */
function isLine(text: string): boolean {
  return (
    text.startsWith('{') ||
    text.includes('] "') ||
    /^(?:<\d|[a-z\d]* ?\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} [ \d]\d )/.test(text)
  )
}
