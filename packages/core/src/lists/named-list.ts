import { type Address, parseAddress } from '../address/address.ts'
import { formatHostOrPrefix, type Prefix, parseHostOrPrefix, parsePrefix, prefixContains } from '../address/prefix.ts'
import { prefixSetSteps } from '../address/prefix-set.ts'
import { bareAgent, isName, nameSteps } from '../policy/language/agent-names.ts'
import type { NamedList } from '../policy/language/surroundings.ts'
import { compilePatterns, isLiteral, patternFault, patternSteps } from '../policy/language/text-pattern.ts'
import { finish, STEP, type Steps } from '../steps.ts'
import { isAboutList, prefixesIn, refusedAddresses, spacedRange } from './address-line.ts'
import { everybodyListed, isAnyText, isInternalAddress, isWithheld } from './list-guard.ts'
import { entriesIn } from './list-lines.ts'

/** The entries of a list, sorted by what they are. */
export interface ListEntries {
  /** Addresses and CIDRs, as they are written. */
  readonly addresses: readonly string[]
  /** The same, in their order. */
  readonly prefixes: readonly Prefix[]
  readonly systems: readonly number[]
  /** Patterns of texts. */
  readonly texts: readonly string[]
  /** Lines that are none of them, with their numbers from 1: the first few. */
  readonly unread: readonly number[]
  /** How many lines are none of them. */
  readonly left: number
  /** The first entries that a guarded list leaves out. */
  readonly withheld: readonly string[]
  /** How many it leaves out. */
  readonly withheldCount: number
}

/** Reads a list line by line, so that who reads a long one can pause. */
export interface ListReader {
  take(line: string): void
  /** Entries so far. */
  readonly size: number
  /** Work so far, in plain lines. */
  readonly work: number
  entries(): ListEntries
}

/** Unread lines whose numbers are kept, and entries left out whose texts are. */
const MAX_UNREAD = 10

/** Longer lines are no entries. */
const MAX_LINE = 4_096

/** Patterns of a list that are more than a text: each is asked at every request. */
const MAX_PATTERNS = 1_000

/** A system as lists write it: `AS64500`. */
const SYSTEM = /^AS(?<number>\d{1,10})$/i

/** An address or a CIDR before a comma, a blank or a semicolon: what follows on the line is about it. */
const FIRST_WORD = /^[^\s,;|]+/

/** Lines about a list: comments, the rest of what `fail2ban-client status` prints, the set of an ipset. */
const ABOUT = /^(?:[#;]|\/\/|Status for the jail|\||`-|create \S+ hash:)/

/** Plain lines that take as long as a pattern which may be an expression. */
const PATTERN_WORK = 256

/** Words before entries: the jail's banned addresses, the set that an entry is added to. */
const BEFORE_ENTRIES = /^(?:[\s|`-]*Banned IP list:|(?:-A|add) [^\s=]+(?= [\da-f]))/

/**
 * Reads a list, an entry a line: addresses, CIDRs, `AS64500`, or patterns of texts. `#` and `;` begin comments, and `//` at the
 * beginning of a line. Of a line that begins with an address the rest is about it: a date, a reason, other columns; where all
 * of its words are addresses, each is an entry. A line may be an object of JSON, or refuse addresses in the words of nginx,
 * Apache, iptables or MikroTik. A guarded list leaves out what would hold
 * everybody or the house: short prefixes, all prefixes where together they are nearly every public address, internal ones, and
 * patterns that any text matches.
 */
export function createListReader({ isGuarded = false } = {}): ListReader {
  const addresses: string[] = []
  const prefixes: Prefix[] = []
  const systems: number[] = []
  const texts: string[] = []
  const unread: number[] = []
  const withheld: string[] = []
  let withheldCount = 0
  let number = 0
  let left = 0
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
  const isRead = (line: string): boolean => {
    const bare = (line.split(/\s[#;]/, 1)[0] as string).trimEnd()
    const word = unquoted(FIRST_WORD.exec(bare)?.[0] ?? '')
    const system = SYSTEM.exec(word)?.groups?.['number']
    const named = addressesOn(bare, word)
    if (named !== undefined) {
      named.forEach(takePrefixes)
      return named.length > 0
    }
    if (system !== undefined && Number(system) <= 0xffffffff) systems.push(Number(system))
    else if ((isLiteral(unquoted(bare)) || ++patterns <= MAX_PATTERNS) && isText(bare, word)) {
      if (isGuarded && isAnyText(unquoted(bare))) withhold(bare)
      else texts.push(unquoted(bare))
    } else return false
    return true
  }
  const take = (written: string): void => {
    number++
    const line = written.trim()
    const from = BEFORE_ENTRIES.exec(line)?.[0].length ?? 0
    if (line === '' || from === line.length || (from === 0 && (ABOUT.test(line) || isAboutList(line)))) return
    if (line.length <= MAX_LINE || from > 0) {
      const entries = objectEntries(line) ?? [line.slice(from).trim()]
      if (entries.every(isRead)) return
    }
    left++
    if (unread.length < MAX_UNREAD) unread.push(number)
  }
  return {
    take,
    get size() {
      return addresses.length + systems.length + texts.length
    },
    get work() {
      return number + addresses.length + patterns * PATTERN_WORK
    },
    entries() {
      const rest = { systems, texts, unread, left, withheld, withheldCount }
      const family = isGuarded ? everybodyListed(prefixes) : undefined
      if (family === undefined) return { ...rest, addresses, prefixes }
      const count = withheldCount + addresses.length
      const all = `all ${addresses.length} addresses, together nearly the whole of IPv${family}`
      return { ...rest, addresses: [], prefixes: [], withheld: [all, ...withheld], withheldCount: count }
    },
  }
}

/** Reads a whole list. */
export function readListEntries(lines: Iterable<string>, guard = { isGuarded: false }): ListEntries {
  const reader = createListReader(guard)
  for (const line of lines) reader.take(line)
  return reader.entries()
}

/**
 * Entries by which a list holds what is wanted: an address, a CIDR, a system or a text; of a text also those that it is a part
 * of.
 */
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

/** Whether a list holds an address, a system or a text, as `wanted` is written; `undefined` while it was never read, and of a CIDR. */
export function listHolds(list: NamedList, wanted: string): boolean | undefined {
  if (!list.isRead || parsePrefix(wanted) !== undefined) return undefined
  const address = parseAddress(wanted)
  if (address !== undefined) return list.holds(address)
  const system = SYSTEM.exec(wanted)?.groups?.['number']
  return system === undefined ? list.matches(wanted) : list.hasSystem(Number(system))
}

/** Entries of a line that is an object: Spamhaus has one a line. */
function objectEntries(line: string): readonly string[] | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return [...entriesIn(JSON.parse(line))]
  } catch {
    return undefined
  }
}

/** Addresses on a line of a list, as they are written; `undefined` where it is no line of addresses. */
function addressesOn(line: string, first: string): readonly string[] | undefined {
  if (prefixesIn(first) === undefined) return refusedAddresses(line)
  const range = spacedRange(line)
  if (range !== undefined) return [range]
  const words = line.split(/[\s,;|]+/).filter((word) => word !== '')
  return words.every((word) => prefixesIn(word) !== undefined) ? words : [first]
}

/** A word of digits, dots, colons, stars and dashes that is no address was meant to be one. */
const LIKE_ADDRESS = /^[\da-f:.]+(?:\/\d*)?$/i
const LIKE_RANGE = /^\d{1,3}\.\d{1,3}\.[\d.*-]+$/
const LETTER = /[a-f]/i

function isLikeAddress(word: string): boolean {
  return LIKE_RANGE.test(word) || (LIKE_ADDRESS.test(word) && (word.includes(':') || !LETTER.test(word)))
}

function isText(line: string, word: string): boolean {
  return !isLikeAddress(word) && !hasControls(line) && patternFault(unquoted(line)) === undefined
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 127 || code === 0xfffd) return true
  }
  return false
}

/** A list that is asked. */
export function createNamedList(entries: Pick<ListEntries, 'prefixes' | 'systems' | 'texts'>): NamedList {
  return finish(namedListSteps(entries))
}

/** The same in steps, for a long one; one that is guarded holds no internal address, whatever its prefixes. */
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
  const mentions = yield* nameSteps(texts.filter(isName))
  const holds = (address: Address) => addresses.has(address) && !isInternalAddress(address)
  const hasSystem = (asn: number) => numbers.has(asn)
  return { isRead: true, holds: isGuarded ? holds : addresses.has, hasSystem, matches, mentions }
}
