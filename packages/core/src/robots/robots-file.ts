import { originForm } from '../address/origin-form.ts'
import { compilePathRules, higher, type PathRule, type PathRules, type Verdict } from './path-rules.ts'

export type RobotsFile = ReturnType<typeof parseRobots>

/** Limits the bytes of a file that are read (RFC 9309 section 2.5). */
export const MAX_ROBOTS_BYTES = 500 * 1024

/** Limits the rules with a star within, each tested separately, and the lists of names that contain one name. */
const MAX_GLOBS = 2_000
const MAX_LISTS = 64

/** Limits the user agents whose groups are remembered, and the characters of each. */
const MAX_REMEMBERED = 1_000
const MAX_AGENT = 512

/** People's browsers, and programs that copy their user agents, name no crawler. */
const BROWSER = /^(?:mozilla|opera)\//i
const CRAWLER = /compatible;|bot\b|crawl|spider|\+https?:/i

const NO_RULES: readonly PathRules[] = []

/**
 * Reads it as a crawler would: its own groups, all that have its name together, else `*`; the longest rule counts (RFC 9309). Throws an
 * error, whose message follows the name of the file, for a file that would cost each request too much.
 */
export function parseRobots(text: string) {
  const lists = readLists(text)
  const groups = groupRules(lists)
  const remembered = new Map<string, readonly PathRules[]>()

  function rulesFor(userAgent: string): readonly PathRules[] {
    const known = remembered.get(userAgent)
    if (known !== undefined) return known
    const name = nameIn(userAgent, groups)
    const isPerson = name === undefined && BROWSER.test(userAgent) && !CRAWLER.test(userAgent)
    const found = (isPerson ? undefined : groups.get(name ?? '*')) ?? NO_RULES
    if (userAgent.length <= MAX_AGENT) {
      // Reading a user agent again costs less than tracking which one was unused for longest.
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
      remembered.set(userAgent, found)
    }
    return found
  }

  return {
    /**
     * Reports whether it refuses a target, a path with its query, to this user agent. It calls `onStep` for each text and each pattern that
     * it compares with the path.
     */
    refuses(userAgent: string, target: string, onStep?: () => void): boolean {
      const form = originForm(target)
      if (!form.startsWith('/') || groups.size === 0) return false
      const rules = rulesFor(userAgent)
      if (rules.length === 0) return false
      const path = normal(form)
      if (path === '/robots.txt') return false
      let best: Verdict | undefined
      for (const some of rules) best = higher(best, some.on(path, onStep))
      return best?.allow === false
    },
    size: lists.reduce((sum, { rules }) => sum + rules.length, 0),
  }
}

/** Decodes a file: a longer one is cut after its last whole line within the bound. */
export function robotsText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, MAX_ROBOTS_BYTES))
  return bytes.length > MAX_ROBOTS_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) : text
}

interface RulesOfNames {
  readonly names: ReadonlySet<string>
  readonly rules: PathRule[]
}

/** Joins the groups of the same names. A line that is no name and no rule ends no group. */
function readLists(text: string): readonly RulesOfNames[] {
  const lists = new Map<string, RulesOfNames>()
  let names = new Set<string>()
  let rules: PathRule[] | undefined
  const take = (): PathRule[] => {
    const key = [...names].sort().join(' ')
    const list = lists.get(key) ?? { names, rules: [] }
    lists.set(key, list)
    return list.rules
  }
  for (const line of text.replace(/^\ufeff/, '').split(/[\r\n]+/)) {
    const [said = ''] = line.split('#', 1)
    const colon = said.indexOf(':')
    const key = said.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = said.slice(colon + 1).trim()
    if (key === 'user-agent') {
      if (rules !== undefined) names = new Set()
      rules = undefined
      names.add(readName(value))
    } else if (key === 'allow' || key === 'disallow') {
      rules ??= take()
      if (value !== '' && names.size > 0) rules.push(pathRule(value, key === 'allow'))
    }
  }
  if (rules === undefined) take()
  return [...lists.values()]
}

/** Maps names to rules, each list compiled once: thousands of names may share thousands of rules. */
function groupRules(lists: readonly RulesOfNames[]): ReadonlyMap<string, readonly PathRules[]> {
  const groups = new Map<string, PathRules[]>()
  let globs = 0
  for (const { names, rules } of lists) {
    const compiled = compilePathRules(rules)
    globs += compiled.globs
    if (globs > MAX_GLOBS) throw new Error(`has more than ${MAX_GLOBS} rules with a star within`)
    for (const name of names) {
      const group = groups.get(name)
      if (group === undefined) groups.set(name, [compiled])
      else if (group.push(compiled) > MAX_LISTS)
        throw new Error(`has ${name} among more than ${MAX_LISTS} lists of names`)
    }
  }
  return groups
}

/** Returns the name without its version. */
function readName(value: string): string {
  return (value.split(/[\s/]/, 1)[0] as string).toLowerCase()
}

/** A pattern is a prefix but for `$` at its end; `*` is any characters. */
function pathRule(value: string, allow: boolean): PathRule {
  return { allow, pattern: normal(value.replace(/\p{Cs}/gu, '\ufffd').replace(/[^\0-\x7f]+/g, encodeURIComponent)) }
}

/** Writes every path in one spelling: escapes only where they are needed, in capitals (RFC 9309 section 2.2.2). */
function normal(path: string): string {
  if (!/[%\x80-\xff]/.test(path)) return path
  return path
    .replace(/[\x80-\xff]/g, (octet) => `%${octet.charCodeAt(0).toString(16)}`)
    .replace(/%[0-9a-f]{2}/gi, (octet) => {
      const letter = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return /[\w.~-]/.test(letter) ? letter : octet.toUpperCase()
    })
}

/** Returns the longest product token of a user agent that names a group. `mozilla` is skipped, because all browsers begin with it. */
function nameIn(userAgent: string, groups: ReadonlyMap<string, unknown>): string | undefined {
  let name: string | undefined
  const take = (token: string) => {
    if (token.length > (name?.length ?? 0) && token !== 'mozilla' && groups.has(token)) name = token
  }
  for (const token of userAgent.toLowerCase().match(/[\w.-]+/g) ?? []) {
    take(token)
    for (const part of token.match(/[\w-]+/g) ?? []) take(part)
  }
  return name
}
