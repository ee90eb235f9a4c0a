import { type ClientTrust, formatAddress } from '@sallyport/core'
import type { AccessFormat } from './format.ts'
import { parseAddressText, parseReading, parseRequestLine } from './reading.ts'

/** `[host] address ident user [time] "request" status bytes "referrer" "user agent" …` */
interface CombinedLine {
  /** In front of the time. */
  readonly words: readonly string[]
  readonly time: string
  readonly request: string
  readonly status: string | undefined
  /** Absent where the line ends before it, or where quotes within it are not escaped. */
  readonly userAgent: string | undefined
  /** The text behind the user agent, where nginx has X-Forwarded-For. */
  readonly forwarded: string | undefined
}

/** The combined log format of nginx, Apache, lighttpd and most others, also with the host in front and with more behind. */
export const combinedFormat: AccessFormat = {
  name: 'combined',
  open(first, isNamed, trust) {
    // Servers with a form of their own, and those that log no user agents, have another text or `-` in its place in every line.
    const hasAgents = isNamed || first.some((line) => isAgent(parseLine(line)?.userAgent ?? ''))
    return (line) => {
      const found = parseLine(line)
      if (found === undefined) return undefined
      const { words, time, request, status, userAgent, forwarded } = found
      const read = {
        ip: findClient(words, trust),
        forwarded,
        ...(parseRequestLine(request) ?? { target: undefined }),
        at: time,
        userAgent: hasAgents ? userAgent : undefined,
        status,
      }
      return parseReading(read, trust)
    }
  },
}

const WORD = /[^\s"]+/y

function parseLine(line: string): CombinedLine | undefined {
  // A server escapes quotes in the user name, which is the client's own: the first `] "` was written by the server.
  const end = line.indexOf('] "')
  const start = line.lastIndexOf('[', end)
  if (start < 1) return undefined
  const [request, status, , , userAgent, forwarded] = findTokens(line, end + 2)
  if (request === undefined) return undefined
  const words = line.slice(0, start).replaceAll('"', '').trim().split(/ +/)
  return {
    words,
    time: line.slice(start + 1, end),
    request: cutEscapes(request),
    status,
    userAgent: userAgent === undefined ? undefined : cutEscapes(userAgent),
    forwarded,
  }
}

/** The texts that the combined form has from a place on, and one more, as far as a space or the end of the line is behind each. */
function findTokens(line: string, from: number): readonly string[] {
  const tokens: string[] = []
  for (let at = from; tokens.length < 6; ) {
    const text = line[at] === '"' ? findQuoted(line, at) : findWord(line, at)
    at += (text?.length ?? 0) + 1
    if (text === undefined || (line[at - 1] ?? ' ') !== ' ') break
    tokens.push(text.startsWith('"') ? text.slice(1, -1) : text)
  }
  return tokens
}

function findWord(line: string, from: number): string | undefined {
  WORD.lastIndex = from
  return WORD.exec(line)?.[0]
}

/** Returns the text in quotes that begins at a place, with its quotes. An expression with escapes in it can backtrack. */
function findQuoted(line: string, from: number): string | undefined {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === '"') return line.slice(from, at + 1)
  }
  return undefined
}

/**
 * Finds the only address among the words in front of a time. Several may be X-Forwarded-For and a proxy, or a host and its client: the
 * only one that is no trusted proxy is the client.
 */
function findClient(words: readonly string[], { proxies, empty }: ClientTrust): string | undefined {
  const isList = words.some((word) => word.includes(','))
  if (isList && empty) return undefined
  const addresses = words.flatMap((word) => word.split(',')).flatMap((word) => parseAddressText(word) ?? [])
  const found = new Map(addresses.map((address) => [formatAddress(address), address]))
  const clients =
    found.size === 1 && !isList ? found : new Map([...found].filter(([, address]) => !proxies.has(address)))
  const [only] = clients.keys()
  return clients.size === 1 ? only : undefined
}

/** Whether a text names a program: a product with its version, or a bot. */
function isAgent(text: string): boolean {
  return text
    .split(/[\s,;()]+/)
    .some((word) => /^(?!HTTP\/)[A-Za-z][\w.!+-]*\/v?\d/.test(word) || /(?:bot|crawler|spider)$/i.test(word))
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** A text without the escapes of nginx (`\x22`) and of Apache (`\"`, `\\`, `\xe9`). */
function cutEscapes(text: string): string {
  return text.replace(/\\(?:x([\da-f]{2})|(.))/gi, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
