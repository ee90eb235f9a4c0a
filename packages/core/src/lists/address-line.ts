import { parseAddress } from '../address/address.ts'
import { coverRange, type Prefix, parseHostOrPrefix, prefixOf } from '../address/prefix.ts'

/**
 * The prefixes that a word of a list names: an address, a CIDR, `5.9.10.0-5.9.10.255`, `5.9.10.*` or `5.9.10.`; `undefined`
 * where it names none.
 */
export function prefixesIn(word: string): readonly Prefix[] | undefined {
  const prefix = parseHostOrPrefix(word)
  if (prefix !== undefined) return [prefix]
  const range = RANGE.exec(word)?.groups
  if (range !== undefined) return rangePrefixes(range['first'] ?? '', range['last'] ?? '')
  const octets = PARTIAL.exec(word)?.groups?.['octets']?.split('.')
  if (octets === undefined) return undefined
  const first = parseAddress([...octets, '0', '0', '0'].slice(0, 4).join('.'))
  return first && [prefixOf(first, octets.length * 8)]
}

const RANGE = /^(?<first>[\da-f.:]{2,45})-(?<last>[\da-f.:]{2,45})$/i

/** Octets stand before stars, or two or three of them before a dot. */
const PARTIAL = /^(?<octets>\d{1,3}(?=\.\*\.\*\.\*$)|\d{1,3}(?:\.\d{1,3}){1,2})\.(?:\*(?:\.\*){0,2})?$/

function rangePrefixes(from: string, to: string): readonly Prefix[] | undefined {
  const first = parseAddress(from)
  const last = parseAddress(to)
  const covered = first && last && coverRange(first, last)
  return covered?.length === 0 ? undefined : covered
}

/**
 * The addresses that a line of another program refuses, as words for `prefixesIn`. `undefined` where the line names no
 * address; empty where it names some that it does not refuse, or in a way that is not known here.
 */
export function refusedAddresses(line: string): readonly string[] | undefined {
  // PeerGuardian writes `name:first-last`.
  const peer = line.slice(line.lastIndexOf(':') + 1)
  if (peer.length < line.length - 1 && RANGE.test(peer) && prefixesIn(peer) !== undefined) return [peer]
  const [first = '', ...words] = line.split(/[\s;,="'{}]+/).filter((word) => word !== '')
  const refused = READERS[first.toLowerCase()]?.(words) ?? []
  return refused.length > 0 || words.some(isWhole) ? refused : undefined
}

/** The range that a line begins with as `first - last`, without its blanks. */
export function spacedRange(line: string): string | undefined {
  const { first, last } = SPACED_RANGE.exec(line)?.groups ?? {}
  return first === undefined || parseAddress(first) === undefined ? undefined : `${first}-${last}`
}

/** Matches `first - last`, whatever follows. */
const SPACED_RANGE = /^(?<first>[\da-f.:]{2,45})\s{1,9}-\s{1,9}(?<last>[\da-f.:]{2,45})(?=$|[\s,;#])/i

/** Whether a word of a text can be nothing but an address: `6.*` may be a version. */
function isWhole(word: string): boolean {
  return parseHostOrPrefix(word) !== undefined || (RANGE.test(word) && prefixesIn(word) !== undefined)
}

/** Words that are addresses; Apache leaves out the last octets. */
function readAddresses(words: readonly string[]): readonly string[] {
  const written = words.map((word) => (/^\d{1,3}(?:\.\d{1,3}){1,2}$/.test(word) ? `${word}.` : word))
  return written.filter((word) => prefixesIn(word) !== undefined)
}

/** Finds the addresses in what follows the first word of a line. */
type Reader = (words: readonly string[]) => readonly string[]

/** Readers of lines by their first word. A line that permits is none of a list that refuses, and is named as unread. */
const READERS: Readonly<Record<string, Reader>> = {
  // nginx writes these, Apache and ufw with `from`.
  deny: readAddresses,
  // Apache writes `Require not ip`.
  require: ([not, ip, ...words]) => (`${not} ${ip}`.toLowerCase() === 'not ip' ? readAddresses(words) : []),
  // iptables-save writes these.
  '-a': (words) => (words.some((word) => /^(?:DROP|REJECT|TARPIT)$/.test(word)) ? readSources(words) : []),
  // MikroTik's members were split at `=`.
  add: (words) => words.filter((_, at) => words[at - 1]?.toLowerCase() === 'address'),
  blackhole: (words) => words.slice(0, 1),
  // hosts.deny has these.
  'all:': readAddresses,
}

/** Sources of a rule of iptables, of which one after `!` is not refused. */
function readSources(words: readonly string[]): readonly string[] {
  return words.filter((_, at) => /^(?:-s|--source|--src-range)$/.test(words[at - 1] ?? '') && words[at - 2] !== '!')
}

/** Whether a line of such a program is about its list: a table, a chain, a block, a rule for everybody. */
export function isAboutList(line: string): boolean {
  return ABOUT.test(line)
}

const ABOUT =
  /^(?:\*(?:filter|nat|mangle|raw|security)$|:\S+ \S+ \[|COMMIT$|-[PN] \S+|\/ip(?:v6)? firewall address-list$|<\/?(?:Limit|Require|Files)|Order (?:allow|deny)|(?:deny|allow)(?: from)? all;?$|Require all )/i
