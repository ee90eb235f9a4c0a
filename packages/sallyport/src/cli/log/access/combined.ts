import { type ClientTrust, formatAddress, parseAddress } from '@sallyport/core'
import { type AccessFormat, parseAddressText, parseReading, parseRequestLine } from './reading.ts'

/** Reads the combined log format of nginx, Apache, lighttpd and most others, also with the host before it and more after it. */
export const combinedFormat: AccessFormat = {
  name: 'combined',
  open(first, isNamed, trust) {
    // Servers with their own form, or without user agents in the log, have another text or `-` there in every line.
    const hasAgents = isNamed || first.some((line) => isAgent(parseLine(line)?.userAgent ?? ''))
    return (line) => {
      const found = parseLine(line)
      if (found === undefined) return undefined
      const { words, request, userAgent, ...rest } = found
      const parts = parseRequestLine(request) ?? { target: undefined }
      const agent = hasAgents ? userAgent : undefined
      return parseReading({ ip: findClient(words, trust), ...rest, ...parts, userAgent: agent }, trust)
    }
  },
}

const WORD = /[^\s"]+/y

/** Parses a line of the form `[host] address ident user [time] "request" status bytes "referrer" "user agent" …`. */
function parseLine(line: string) {
  // A server escapes quotes in the user name, which the client chooses: the first `] "` was written by the server.
  const end = line.indexOf('] "')
  const start = line.lastIndexOf('[', end)
  if (start < 1) return undefined
  const [request, status, , , userAgent, ...behind] = findTokens(line, end + 2)
  if (request === undefined) return undefined
  const words = line.slice(0, start).replaceAll('"', '').trim().split(/ +/)
  return {
    words,
    at: line.slice(start + 1, end),
    request: cutEscapes(request),
    status,
    /** Absent where the line ends before it, or where quotes within it are not escaped. */
    userAgent: userAgent === undefined ? undefined : cutEscapes(userAgent),
    // Many servers write X-Forwarded-For after the user agent.
    forwarded: behind.find(isAddressList) ?? behind[0],
  }
}

function isAddressList(text: string): boolean {
  return text.split(',').every((member) => parseAddress(member.trim()) !== undefined)
}

const MAX_TOKENS = 20

/** Finds the texts of a line from a place on, as far as a space or the end of the line follows each. */
function findTokens(line: string, from: number): readonly string[] {
  const tokens: string[] = []
  for (let at = from; tokens.length < MAX_TOKENS; ) {
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

/** Returns the text in quotes at a place, with its quotes. A regular expression with escapes could backtrack. */
function findQuoted(line: string, from: number): string | undefined {
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === '"') return line.slice(from, at + 1)
  }
  return undefined
}

/**
 * Finds the client among the words before a time. Several addresses may be X-Forwarded-For and a proxy, or a host and its client: the only
 * address that is not a trusted proxy is the client.
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

/** Reports whether a text names a program: a product with its version, or a bot. */
function isAgent(text: string): boolean {
  return text
    .split(/[\s,;()]+/)
    .some((word) => /^(?!HTTP\/)[A-Za-z][\w.!+-]*\/v?\d/.test(word) || /(?:bot|crawler|spider)$/i.test(word))
}

const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** Decodes the escapes of nginx (`\x22`) and of Apache (`\"`, `\\`, `\xe9`) in a text. */
function cutEscapes(text: string): string {
  return text.replace(/\\(?:x([\da-f]{2})|(.))/gi, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
