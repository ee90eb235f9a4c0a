import { findText, parseRecord } from './members.ts'

/** Matches the byte order mark that editors and Windows write before UTF-8; three letters where letters are bytes. */
const BOM = /^(?:\ufeff|\u00ef\u00bb\u00bf)/

/** Yields lines without what Docker, Kubernetes or journald wrap around them; skips empty lines, and yields `undefined` for too long lines. */
export async function* cleanLines(lines: AsyncIterable<string | undefined>): AsyncIterable<string | undefined> {
  for await (const line of lines) {
    if (line === undefined) yield undefined
    else if (line.trim() !== '') yield unwrap(line.replace(BOM, '').trimEnd())
  }
}

/** Docker may wrap Kubernetes' line, and that line may wrap JSON. */
const MAX_LAYERS = 3

function unwrap(line: string): string {
  let text = line
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const within = cutBeginning(text) ?? findLine(text)
    if (within === undefined) break
    text = within
  }
  return text
}

const ISO = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)`

/** Match what collectors put before a line. */
const BEGINNINGS = [
  // Kubernetes.
  new RegExp(String.raw`^${ISO} std(?:out|err) [FP]\s`),
  // Compose.
  /^[\w.-]+ +\| /,
  // Syslog and journald write this.
  new RegExp(
    String.raw`^(?:<\d{1,3}>)?(?:${ISO}|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?) \S+ [\w./-]+(?:\[\d+\])?: `,
  ),
]

function cutBeginning(line: string): string | undefined {
  for (const form of BEGINNINGS) {
    const [beginning] = form.exec(line) ?? []
    if (beginning !== undefined) return line.slice(beginning.length)
  }
  return undefined
}

/** Finds the line in an object of a collector; the message of a program that logs JSON is for people, and no line. */
function findLine(line: string): string | undefined {
  if (!line.startsWith('{') || !/"(?:log|message|MESSAGE|textPayload)"/.test(line)) return undefined
  const record = parseRecord(line)
  const text = findText(record, 'log', 'MESSAGE', 'textPayload')?.trim()
  if (text?.startsWith('{') || text?.includes(' ')) return text
  const message = findText(record, 'message')?.trim()
  return message?.startsWith('{') || message?.includes('] "') ? message : undefined
}
