import { parse4, parseAddress } from '../address/address.ts'
import { coverRange, makePrefix, type Prefix, parseHostOrPrefix } from '../address/prefix.ts'

/**
 * Returns the prefixes that a word of a list names: an address, a CIDR, `5.9.10.0/255.255.255.0`, `5.9.10.0-5.9.10.255`, `5.9.10.1-20`,
 * `5.9.10.*`, `5.9.10.` or `5.9.10.20:8080`; `undefined` where it names none.
 */
export function prefixesIn(word: string): readonly Prefix[] | undefined {
  const prefix = parseHostOrPrefix(word)
  if (prefix !== undefined) return [prefix]
  const { first, last, network, mask, host, octets } = WRITTEN.exec(word)?.groups ?? {}
  if (first !== undefined && last !== undefined) return rangePrefixes(first, last)
  if (network !== undefined && mask !== undefined) return maskedPrefix(network, mask)
  if (host !== undefined) return prefixesIn(host)
  const known = octets?.split('.') ?? []
  const start = known.length > 0 ? parseAddress([...known, '0', '0', '0'].slice(0, 4).join('.')) : undefined
  return start && [makePrefix(start, known.length * 8)]
}

/** Matches a range, a mask, a port, or octets before stars; two or three octets may stand before a dot. */
const WRITTEN =
  /^(?:(?<first>[\da-f.:]{2,45})-(?<last>[\da-f.:]{1,45})|(?<network>[\d.]{1,15})\/(?<mask>[\d.]{7,15})|(?<host>\d[\d.]{6,14}):\d{1,5}|(?<octets>\d{1,3}(?=\.\*\.\*\.\*$)|\d{1,3}(?:\.\d{1,3}){1,2})\.(?:\*(?:\.\*){0,2})?)$/i

/** The last address may be only its last octet. */
function rangePrefixes(from: string, to: string): readonly Prefix[] | undefined {
  const first = parseAddress(from)
  const last = parseAddress(/^\d{1,3}$/.test(to) ? from.replace(/\d{1,3}$/, to) : to)
  const covered = first && last && coverRange(first, last)
  return covered?.length === 0 ? undefined : covered
}

/** A mask has its ones first, or last as Cisco writes it. */
function maskedPrefix(network: string, mask: string): readonly Prefix[] | undefined {
  const address = parseAddress(network)
  const bits = parse4(mask)
  const free = mask.startsWith('255.') ? ~bits : bits
  if (address?.family !== 4 || bits < 0 || (free & (free + 1)) !== 0 || mask === '0.0.0.0') return undefined
  return [makePrefix(address, Math.clz32(free))]
}

/** Rewrites the addresses of a line as `prefixesIn` reads them: without leading zeros, each next to its mask or the end of its range. */
function plainAddresses(line: string): string {
  return line
    .replace(/\b\d{3}(?:\.\d{3}){3}\b/g, (padded) => padded.replace(/\b0{1,2}(?=\d)/g, ''))
    .replace(/(?<=\.\d{1,3})(?:"?\s?\/|" subnetMask=")(?=\d)/i, '/')
    .replace(/(?<=\d)(?:\.\.|\s?–\s?)(?=\d)/, '-')
    .replace(/^\w{3,6}:\/\/(?=[\d.:]{7,21}$)|(?<=") allowed="false"/i, '')
    .replace(/^\d{1,3}(?:\.(?:\d{1,3}|x)){3}$/i, (octets) => octets.replaceAll(/x/gi, '*'))
    .replace(/(?<=\d\.\d{1,3})\s{1,9}(?=(?:255(?:\.\d{1,3}){3}|0(?:\.\d{1,3}){2}\.255)(?:[\s;]|$))/, '/')
    .replace(WHOLE_RANGE, '$1$3-$2$4')
    .replace(/^require not ip\b/i, 'deny')
    .replace(/comment[=\s]{1,9}"[^"]{0,500}"/i, '')
}

/** Matches `first - last`, `first to last`, and a range of whole networks in two columns. */
const WHOLE_RANGE =
  /^"?(?:([\da-f.:]{2,45})\s{1,9}(?:-|to)\s{1,9}([\da-f.:]{2,45})|(\d{1,3}\.\d{1,3}\.\d{1,3}\.0|[\da-f:]{1,40}::)[\s,;"]{1,9}(\d{1,3}\.\d{1,3}\.\d{1,3}\.255|[\da-f:]{1,40}:ffff))(?=$|[\s,;#"])/i

const BETWEEN_WORDS = /[\s;,|="'`{}()<>[\]#]+/

/**
 * Finds the addresses that a line lists, or refuses in the words of another program, as words for `prefixesIn`. Returns `undefined` where
 * the line names no address, and an empty list where it permits addresses or is in an unknown form.
 */
export function addressesOn(written: string): readonly string[] | undefined {
  if (parseHostOrPrefix(written) !== undefined) return [written]
  const line = plainAddresses(written)
  // PeerGuardian writes `name:first-last`.
  const peer = line.slice(line.lastIndexOf(':') + 1)
  if (/^\d[\d.]+-/.test(peer) && prefixesIn(peer) !== undefined) return [peer]
  const words = line.split(BETWEEN_WORDS).filter((word) => word !== '' && word !== '-' && word !== '*')
  const [first = '', second = ''] = words
  if (words.length > 0 && words.every((word) => prefixesIn(word) !== undefined)) return words
  // The text after an address is about it: a date, a reason, other columns.
  if (prefixesIn(first) !== undefined) return PERMITS.test(` ${second} `) || /^\S+\s+0;/.test(line) ? [] : [first]
  const refused = PERMITS.test(line) ? [] : refusedIn(words)
  return refused.length > 0 || words.some(isWhole) ? refused : undefined
}

/** Matches words that permit, or negate a condition. */
const PERMITS =
  /(?:^|\s|=)(?:!|(?:not|unless|except|allow|allowed|permit|accept|return|pass|ok|dunno|via|dev|gw|interface)(?=[\s;,=]|$)|-(?:j|g|-jump|-goto)\s{1,9}(?!drop|reject|tarpit))/i

/** Finds the addresses that a verb of a firewall or server refuses, none of them after a word for where packets go. */
function refusedIn(words: readonly string[]): readonly string[] {
  if (!words.some((word) => REFUSES.test(word))) return []
  const end = words.findIndex((word) => GOES_TO.test(word))
  // Apache leaves out the last octets.
  const isPartial = /^(?:deny|all:)$/i.test(words[0] ?? '')
  const complete = (word: string) => (isPartial && /^\d{1,3}(?:\.\d{1,3}){1,2}$/.test(word) ? `${word}.` : word)
  const sources = words.slice(0, end < 0 ? undefined : end).map(complete)
  const isAddress = (word: string) => prefixesIn(word) !== undefined
  const at = sources.findIndex(isAddress)
  // Behind a protocol the second address is the destination of packets.
  const isOne = PROTOCOL.test(sources[at - 1] ?? '')
  const next = sources.findIndex((word, index) => index > at && (isOne || !isAddress(word)))
  return at < 0 ? [] : sources.slice(at, next < 0 ? undefined : next)
}

const REFUSES =
  /^(?:deny|drop|reject|tarpit|block|ban|blackhole|null0|add|-a|elements?|entry|all:|sshd:|ip:|cidr:|address:)$/i
const GOES_TO = /^(?:to|any|-d|--dst|--destination|daddr|dst|dst-address)$/i
const PROTOCOL = /^(?:ip|ipv6|tcp|udp|icmp|all|--)$/i

/** Reports whether a word of a text can only be an address: `6.*` may be a version. */
function isWhole(word: string): boolean {
  return parseHostOrPrefix(word) !== undefined || (/^[^*]+[-/:]/.test(word) && prefixesIn(word) !== undefined)
}

/** Matches lines of such a program that are about its list: a table, a chain, a block, a rule for all clients. */
export const ABOUT_RULES =
  /^(?:\*(?:filter|nat|mangle|raw|security)$|:\S+ \S+ \[|COMMIT$|-[PN] \S+|\/ip(?:v6)? firewall address-list$|<\/?(?:Limit|Require|Files|(?:ip)?Security|system\.)|Order (?:allow|deny)|(?:deny|allow)(?: from)? all;?$|Require all )/i
