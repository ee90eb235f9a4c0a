import { parseAddress } from '../address/address.ts'
import { parsePrefix } from '../address/prefix.ts'
import { createPrefixSet } from '../address/prefix-set.ts'
import { prefixOfEntry } from './match-network.ts'
import type { NamedList } from './surroundings.ts'
import { compilePatterns, patternFault } from './text-pattern.ts'

/** The entries of a list, sorted by what they are. */
export interface ListEntries {
  /** Addresses and CIDRs. */
  readonly addresses: readonly string[]
  readonly systems: readonly number[]
  /** Patterns of texts. */
  readonly texts: readonly string[]
  /** Lines that are none of them, with their numbers from 1: the first few. */
  readonly unread: readonly number[]
}

/** Unread lines whose numbers are kept. */
const MAX_UNREAD = 10

/** A system as lists write it: `AS64500`. */
const SYSTEM = /^AS(?<number>\d{1,10})$/i

/** An address or a CIDR before a comma, a blank or a semicolon: what follows on the line is about it. */
const FIRST_WORD = /^[^\s,;|]+/

/**
 * Reads a list, an entry a line: addresses, CIDRs, `AS64500`, or patterns of texts. `#` and `;` begin comments, and `//` at the
 * beginning of a line. Of a line that begins with an address the rest is about it: a date, a reason, other columns.
 */
export function readListEntries(lines: Iterable<string>): ListEntries {
  const addresses: string[] = []
  const systems: number[] = []
  const texts: string[] = []
  const unread: number[] = []
  let number = 0
  for (const written of lines) {
    number++
    const line = written.trim()
    if (line === '' || /^(?:[#;]|\/\/)/.test(line)) continue
    const bare = line.replace(/\s+[#;].*$/, '')
    const word = unquoted(FIRST_WORD.exec(bare)?.[0] ?? '')
    const system = SYSTEM.exec(word)?.groups?.['number']
    if (parseAddress(word) !== undefined || parsePrefix(word) !== undefined) addresses.push(word)
    else if (system !== undefined && Number(system) <= 0xffffffff) systems.push(Number(system))
    else if (isText(bare, word)) texts.push(unquoted(bare))
    else if (unread.length < MAX_UNREAD) unread.push(number)
  }
  return { addresses, systems, texts, unread }
}

/** A word of digits, dots and colons that is no address was meant to be one. */
const LIKE_ADDRESS = /^(?:[\d.]+|[\da-f.]*:[\da-f:.]*)(?:\/\d*)?$/i

function isText(line: string, word: string): boolean {
  return !LIKE_ADDRESS.test(word) && !hasControls(line) && patternFault(unquoted(line)) === undefined
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
export function createNamedList({ addresses, systems, texts }: Omit<ListEntries, 'unread'>): NamedList {
  const prefixes = createPrefixSet(addresses.map(prefixOfEntry))
  const numbers = new Set(systems)
  return {
    holds: (address) => prefixes.has(address),
    hasSystem: (asn) => numbers.has(asn),
    matches: compilePatterns(texts),
  }
}
