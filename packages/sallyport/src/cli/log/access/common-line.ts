/** A line of the common log format, or of a longer one that begins so. */
export interface CommonLine {
  /** The words before the time: the client's address among the first of them. */
  readonly words: readonly string[]
  readonly time: string
  /** The quoted texts after it: the request, and what a longer format adds. */
  readonly quoted: readonly string[]
  /** Behind the request. */
  readonly status: string | undefined
  /** All behind the request, as it is written. */
  readonly rest: string
}

/**
 * Reads `words [time] "request" status …`; `undefined` for any other line. Whatever a client wrote is quoted behind the
 * time but the user name, in which a server escapes quotes: the first `] "` is ours.
 */
export function commonLine(line: string): CommonLine | undefined {
  const end = line.indexOf('] "')
  const start = line.lastIndexOf('[', end)
  if (start < 1) return undefined
  const { parts, after } = quotedIn(line, end + 2)
  if (parts.length === 0) return undefined
  const rest = line.slice(after)
  const [, status] = /^ (\d{3})(?= |$)/.exec(rest) ?? []
  return {
    words: line.slice(0, start).trim().split(/ +/),
    time: line.slice(start + 1, end),
    quoted: parts,
    status,
    rest,
  }
}

/** The quoted texts of a line from a place on, and the end of the first of them. */
function quotedIn(line: string, from: number): { readonly parts: readonly string[]; readonly after: number } {
  const parts: string[] = []
  let after = line.length
  let start = -1
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === '"') {
      if (start >= 0) {
        if (parts.length === 0) after = at + 1
        parts.push(unescaped(line.slice(start, at)))
      }
      start = start >= 0 ? -1 : at + 1
    }
  }
  return { parts, after }
}

/** A text without the escapes of nginx (`\x22`) and of Apache (`\"`, `\\`, `\xe9`). */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:x([\da-f]{2})|(.))/gi, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', v: '\v', f: '\f' }
