import { compileGlob, type TextTest } from '../policy/patterns/glob.ts'

/** A robots.txt that was read, by whomever it was written. */
export interface RobotsFile {
  /** Whether it refuses a target, a path with its query, to who calls itself so. */
  refuses(userAgent: string, target: string): boolean
  /** How many rules it has. */
  readonly size: number
}

/** Bytes that are read of one (RFC 9309 section 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024

interface PathRule {
  readonly allow: boolean
  readonly length: number
  readonly test: TextTest
}

/** People's browsers, and programs that write what those do: they name no crawler (D406). */
const BROWSER = /^(?:mozilla|opera)\//i
const CRAWLER = /compatible;|bot\b|crawl|spider|\+https?:/i

/** Reads it as a crawler would: its own groups, all that have its name together, else `*`; the longest rule counts (RFC 9309). */
export function parseRobots(text: string): RobotsFile {
  const groups = groupsOf(text)
  const all = [...groups.values()]
  // The same length is the more permissive one's.
  for (const rules of all)
    rules.sort((one, other) => other.length - one.length || Number(other.allow) - Number(one.allow))
  const anybody = groups.get('*') ?? []
  return {
    refuses(userAgent, target) {
      if (!target.startsWith('/') || groups.size === 0) return false
      const name = tokensOf(userAgent).find((token) => groups.has(token))
      if (name === undefined && BROWSER.test(userAgent) && !CRAWLER.test(userAgent)) return false
      const rules = name === undefined ? anybody : (groups.get(name) as readonly PathRule[])
      const path = normal(target)
      if (path === '/robots.txt' || rules.length === 0) return false
      return rules.find(({ test }) => test(path))?.allow === false
    },
    size: all.reduce((sum, { length }) => sum + length, 0),
  }
}

/** The text of a file: of a longer one the lines that are whole within the bound. */
export function robotsText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_ROBOTS_BYTES))
  return bytes.length > MAX_ROBOTS_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) : text
}

/** Rules by names in lower case. What is no name and no rule ends no group. */
function groupsOf(text: string): ReadonlyMap<string, PathRule[]> {
  const groups = new Map<string, PathRule[]>()
  let named: PathRule[][] = []
  let begun = false
  for (const line of text.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [said = ''] = line.split('#', 1)
    const colon = said.indexOf(':')
    const key = said.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = said.slice(colon + 1).trim()
    if (key === 'user-agent') {
      if (begun) named = []
      begun = false
      const name = nameOf(value)
      const rules = groups.get(name) ?? []
      groups.set(name, rules)
      named.push(rules)
    } else if (key === 'allow' || key === 'disallow') {
      begun = true
      if (value === '') continue
      const rule = pathRule(value, key === 'allow')
      for (const rules of named) rules.push(rule)
    }
  }
  return groups
}

/** The name before a version. */
function nameOf(value: string): string {
  return (value.split(/[\s/]/, 1)[0] as string).toLowerCase()
}

/** A pattern is a prefix but for `$` at its end; `*` is any characters. */
function pathRule(value: string, allow: boolean): PathRule {
  const pattern = normal(value.replace(/\p{Cs}/gu, '\ufffd').replace(/[^\0-\x7f]+/g, encodeURIComponent))
  const ends = pattern.endsWith('$')
  const stem = (ends ? pattern.slice(0, -1) : pattern).replaceAll('\\', '\\\\')
  return { allow, length: pattern.length, test: compileGlob(ends ? stem : `${stem}*`) }
}

/** One spelling of a path for all: escapes only where they are needed, in capitals (RFC 9309 section 2.2.2). */
function normal(path: string): string {
  if (!/[%\x80-\xff]/.test(path)) return path
  return path
    .replace(/[\x80-\xff]/g, (octet) => `%${octet.charCodeAt(0).toString(16)}`)
    .replace(/%[0-9a-f]{2}/gi, (octet) => {
      const letter = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return /[\w.~-]/.test(letter) ? letter : octet.toUpperCase()
    })
}

/** Product tokens of a user agent, the longest first; with `mozilla` all browsers begin. */
function tokensOf(userAgent: string): readonly string[] {
  const tokens = userAgent.toLowerCase().match(/[\w.-]+/g) ?? []
  const parts = tokens.flatMap((token) => [token, ...(token.match(/[\w-]+/g) ?? [])])
  const names = new Set(parts)
  names.delete('mozilla')
  return [...names].sort((one, other) => other.length - one.length)
}
