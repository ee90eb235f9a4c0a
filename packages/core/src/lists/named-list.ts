import { type Address, parseAddress } from '../address/address.ts'
import { formatHostOrPrefix, type Prefix, parseHostOrPrefix, parsePrefix, prefixContains } from '../address/prefix.ts'
import { prefixSetSteps } from '../address/prefix-set.ts'
import { bareAgent, isName, nameSteps } from '../policy/language/agent-names.ts'
import type { NamedList } from '../policy/language/surroundings.ts'
import { compilePatterns, isLiteral, patternSteps } from '../policy/language/text-pattern.ts'
import { finish, STEP, type Steps } from '../steps.ts'
import { ABOUT_RULES, addressesOn, prefixesIn } from './address-line.ts'
import { patternsOn } from './agent-line.ts'
import { everybodyListed, isAnyText, isInternalAddress, isWithheld } from './list-guard.ts'
import { entriesIn, parseJson } from './list-lines.ts'

export interface ListEntries {
  /** Addresses and CIDRs are as written. */
  readonly addresses: readonly string[]
  /** Prefixes have the order of `addresses`. */
  readonly prefixes: readonly Prefix[]
  readonly systems: readonly number[]
  readonly texts: readonly string[]
  /** Numbers, from 1, the line with the first entry of each kind. */
  readonly firstLines: Readonly<Partial<Record<EntryKind, number>>>
  /** The first few lines that are no entries have these numbers, from 1. */
  readonly unread: readonly number[]
  /** Counts the lines that are no entries. */
  readonly left: number
  /** A guarded list leaves out these entries; only the first are kept. */
  readonly withheld: readonly string[]
  readonly withheldCount: number
}

/** Entries have these kinds, which different words of a match compare. */
const KINDS = ['addresses', 'systems', 'texts'] as const
type EntryKind = (typeof KINDS)[number]

/** Limits the unread lines whose numbers are kept, and the left-out entries that are kept. */
const MAX_UNREAD = 10

/** A longer line is not an entry. */
const MAX_LINE = 4_096

/** Limits the patterns of a list that are more than a text, because each request tests them all. */
const MAX_PATTERNS = 1_000

/** Lists write a system as `AS64500`, `AS 64500` or `ASN64500`. */
const SYSTEM = /^ASN?[ :-]?(?<number>\d{1,10})(?=$|[\s,;|])/i

/** An address or a CIDR ends at a comma, a blank or a semicolon: the rest of the line is about it. */
const FIRST_WORD = /^[^\s,;|]+/

/** Matches lines about a list: comments, the rest of what `fail2ban-client status` prints, the set of an ipset. */
const ABOUT = /^(?:[#;]|\/\/|Disallow: *\/?$|Status for the jail|\|[\s-]|`-|create \S+ hash:)/

/** A pattern that may be an expression takes as long as this number of plain lines. */
const PATTERN_WORK = 256

/** A line of `PLAIN_LINE` characters takes no longer than others, and `CHARACTERS_A_LINE` more take as long as another line. */
const PLAIN_LINE = 64
const CHARACTERS_A_LINE = 8

/** Limits the characters of a line of many entries, because it is read at once. */
const MAX_ENTRIES_LINE = 2 ** 21

/** These words precede entries: the jail's banned addresses, the set that an entry is added to. */
const BEFORE_ENTRIES = /^(?:[\s|`-]*Banned IP list:|(?:-A|add) [^\s=]+(?= [\da-f]))/

/** Collects the entries of lines, without those that a guarded list leaves out. */
function createCollector(isGuarded: boolean) {
  const addresses: string[] = []
  const systems: number[] = []
  const texts: string[] = []
  const found = { addresses, systems, texts }
  const prefixes: Prefix[] = []
  const withheld: string[] = []
  let withheldCount = 0
  let patterns = 0
  const withhold = (entry: string): void => {
    withheldCount++
    if (withheld.length < MAX_UNREAD) withheld.push(entry)
  }
  const takePrefixes = (word: string): void => {
    for (const prefix of prefixesIn(word) ?? []) {
      const entry = parseHostOrPrefix(word) === undefined ? formatHostOrPrefix(prefix) : word
      if (isGuarded && isWithheld(prefix)) withhold(entry)
      else {
        addresses.push(entry)
        prefixes.push(prefix)
      }
    }
  }
  const takeTexts = (written: readonly string[]): boolean => {
    patterns += written.filter((pattern) => !isLiteral(pattern)).length
    if (written.length === 0 || patterns > MAX_PATTERNS) return false
    for (const pattern of written) {
      if (isGuarded && isAnyText(pattern)) withhold(pattern)
      else texts.push(pattern)
    }
    return true
  }
  return {
    found,
    /** Measures the work so far, in plain lines. */
    get work() {
      return addresses.length + patterns * PATTERN_WORK
    },
    /** Takes the entries of a line; returns false where it has none. */
    take(line: string): boolean {
      const bare = (line.split(/\s[#;]/, 1)[0] as string).trimEnd()
      const word = unquote(FIRST_WORD.exec(bare)?.[0] ?? '')
      const system = SYSTEM.exec(unquote(bare))?.groups?.['number'] ?? SYSTEM.exec(word)?.groups?.['number']
      const named = addressesOn(bare)
      if (named !== undefined) {
        named.forEach(takePrefixes)
        return named.length > 0
      }
      if (system === undefined || Number(system) > 0xffffffff) {
        return isText(bare, word) && takeTexts(patternsOn(unquote(bare)))
      }
      systems.push(Number(system))
      return true
    },
    entries(): Omit<ListEntries, 'firstLines' | 'unread' | 'left'> {
      const family = isGuarded ? everybodyListed(prefixes) : undefined
      if (family === undefined) return { ...found, prefixes, withheld, withheldCount }
      const all = `all ${addresses.length} addresses, together most of IPv${family}`
      const count = withheldCount + addresses.length
      return { ...found, addresses: [], prefixes: [], withheld: [all, ...withheld], withheldCount: count }
    },
  }
}

/**
 * Reads a list line by line, so that the reader of a long one can pause. Entries are addresses, CIDRs, `AS64500`, or patterns of texts. A
 * line may be an object of JSON, or refuse addresses or user agents in the words of another program; behind an address it is about the
 * address. A guarded list leaves out entries that would block everybody or the operator's own network: short prefixes, all prefixes where
 * together they are most public addresses, internal ones, and patterns that any text matches.
 */
export function createListReader({ isGuarded = false } = {}) {
  const collector = createCollector(isGuarded)
  const { found } = collector
  const firstLines: Partial<Record<EntryKind, number>> = {}
  const unread: number[] = []
  let number = 0
  let long = 0
  let left = 0
  return {
    take(written: string): void {
      number++
      const line = written.trim()
      const from = BEFORE_ENTRIES.exec(line)?.[0].length ?? 0
      if (line === '' || from === line.length || (from === 0 && (ABOUT.test(line) || ABOUT_RULES.test(line)))) return
      if (line.length <= (from > 0 ? MAX_ENTRIES_LINE : MAX_LINE)) {
        long += Math.max(0, line.length - PLAIN_LINE) / CHARACTERS_A_LINE
        const entries = objectEntries(line) ?? [line.slice(from).trim()]
        const isEntry = entries.every(collector.take)
        for (const kind of KINDS) if (found[kind].length > 0) firstLines[kind] ??= number
        if (isEntry) return
      }
      left++
      if (unread.length < MAX_UNREAD) unread.push(number)
    },
    /** Counts the entries so far. */
    get size() {
      return found.addresses.length + found.systems.length + found.texts.length
    },
    /** Measures the work so far, in plain lines. */
    get work() {
      return number + long + collector.work
    },
    entries: (): ListEntries => ({ ...collector.entries(), firstLines, unread, left }),
  }
}

export function readListEntries(lines: Iterable<string>, guard = { isGuarded: false }): ListEntries {
  const reader = createListReader(guard)
  for (const line of lines) reader.take(line)
  return reader.entries()
}

/** Returns the entries by which a list contains an address, a CIDR, a system or a text; for a text also the entries that contain it. */
export function entriesFor({ addresses, prefixes, systems, texts }: ListEntries, wanted: string): readonly string[] {
  const prefix = parseHostOrPrefix(wanted)
  if (prefix !== undefined) {
    return addresses.filter((_, at) => {
      const { address, length } = prefixes[at] as Prefix
      return length <= prefix.length && prefixContains({ address, length }, prefix.address)
    })
  }
  const part = wanted.toLowerCase()
  const written = [...addresses, ...systems.map((system) => `AS${system}`)]
  return [
    ...written.filter((entry) => entry.toLowerCase().includes(part)),
    ...texts.filter(
      (text) => text.toLowerCase().includes(part) || (!isLiteral(text) && compilePatterns([text])(wanted)),
    ),
  ]
}

/** Reports whether a list holds an address, a system or a text; `undefined` while it was never read, and for a CIDR. */
export function listHolds(list: NamedList, wanted: string): boolean | undefined {
  if (!list.isRead || parsePrefix(wanted) !== undefined) return undefined
  const address = parseAddress(wanted)
  if (address !== undefined) return list.holds(address)
  const system = SYSTEM.exec(wanted)?.groups?.['number']
  return system === undefined ? list.matches(wanted) : list.hasSystem(Number(system))
}

/** Returns the entries of a line that is an object: Spamhaus writes one per line. */
function objectEntries(line: string): readonly string[] | undefined {
  const value = line.startsWith('{') ? parseJson(line) : undefined
  return value === undefined ? undefined : [...entriesIn(value)]
}

/** A word of digits, dots, colons, stars and dashes that is no address was meant as one. */
const LIKE_ADDRESS = /^[\da-f:.]+(?:\/[\d.]*)?$/i
const LIKE_RANGE = /^\d{1,3}\.\d{1,3}\.[\d.*x%/-]+$/i
const LETTER = /[a-f]/i

function isLikeAddress(word: string): boolean {
  return LIKE_RANGE.test(word) || (LIKE_ADDRESS.test(word) && (word.includes(':') || !LETTER.test(word)))
}

function isText(line: string, word: string): boolean {
  return !isLikeAddress(word) && !/[\p{Cc}\uFFFD]/u.test(line)
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}

export function createNamedList(entries: Pick<ListEntries, 'prefixes' | 'systems' | 'texts'>): NamedList {
  return finish(namedListSteps(entries))
}

/** Creates the list in steps, for a long one; a guarded list holds no internal address, whatever its prefixes. */
export function* namedListSteps(
  { prefixes, systems, texts }: Pick<ListEntries, 'prefixes' | 'systems' | 'texts'>,
  { isGuarded = false } = {},
): Steps<NamedList> {
  const addresses = yield* prefixSetSteps(prefixes)
  const numbers = new Set<number>()
  for (let from = 0; from < systems.length; from += STEP) {
    yield
    for (const system of systems.slice(from, from + STEP)) numbers.add(system)
  }
  const matches = yield* patternSteps(texts.map(bareAgent))
  const names: string[] = []
  for (let from = 0; from < texts.length; from += STEP) {
    yield
    names.push(...texts.slice(from, from + STEP).filter(isName))
  }
  const mentions = yield* nameSteps(names)
  const holds = (address: Address) => addresses.has(address) && !isInternalAddress(address)
  const hasSystem = (asn: number) => numbers.has(asn)
  return { isRead: true, holds: isGuarded ? holds : addresses.has, hasSystem, matches, mentions }
}
