/** A line of the common log format, or of a longer one that begins so. */
export interface CommonLine {
  /** The words before the time, without quotes: the client's address among the first of them. */
  readonly words: readonly string[]
  readonly time: string
  /** The quoted texts after it: the request, and what a longer format adds. */
  readonly quoted: readonly string[]
  /** Names in front of them, as in `ua="curl/8.5.0"`, by the same places. */
  readonly names: readonly (string | undefined)[]
  /** Whether each text ends where its quote is: a server that does not escape writes quotes of the client's within. */
  readonly isClean: boolean
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
  const { quoted, names, isClean, after } = quotedIn(line, end + 2)
  if (quoted.length === 0) return undefined
  const rest = line.slice(after)
  const [, status] = /^ (\d{3})(?= |$)/.exec(rest) ?? []
  return {
    words: line.slice(0, start).replaceAll('"', '').trim().split(/ +/),
    time: line.slice(start + 1, end),
    quoted,
    names,
    isClean,
    status,
    rest,
  }
}

interface Quoted extends Pick<CommonLine, 'quoted' | 'names' | 'isClean'> {
  /** The end of the first of them. */
  readonly after: number
}

/** The quoted texts of a line from a place on. */
function quotedIn(line: string, from: number): Quoted {
  const quoted: string[] = []
  const names: (string | undefined)[] = []
  let isClean = true
  let after = line.length
  let start = -1
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === '"') {
      if (start < 0) {
        names.push(nameBefore(line, at))
        start = at + 1
        continue
      }
      if (quoted.length === 0) after = at + 1
      // LiteSpeed quotes the line too.
      isClean &&= /^(?:[\s,;\\\])]|"?$)/.test(line.slice(at + 1, at + 3))
      quoted.push(unescaped(line.slice(start, at)))
      start = -1
    }
  }
  return { quoted, names: names.slice(0, quoted.length), isClean, after }
}

/** In letters. */
const MAX_NAME = 40

/** The name in front of a quote: `ua="`, `x_forwarded_for:"`. */
function nameBefore(line: string, quote: number): string | undefined {
  if (!'=:'.includes(line[quote - 1] ?? ' ')) return undefined
  const before = line.slice(Math.max(0, quote - 1 - MAX_NAME), quote - 1)
  const name = before.slice(before.lastIndexOf(' ') + 1)
  return /^[\w-]+$/.test(name) ? name : undefined
}

/** A text without the escapes of nginx (`\x22`) and of Apache (`\"`, `\\`, `\xe9`). */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:x([\da-f]{2})|(.))/gi, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', v: '\v', f: '\f' }
