import { type Address, formatAddress } from '@sallyport/core'
import type { CommonLine } from './common-line.ts'
import { addressIn } from './reading.ts'

/** The words in front of a time. */
export interface InFront {
  /** Whether they begin with the host that was asked for. */
  readonly hasHost: boolean
  /** The client's address; absent where several stand there, and nothing says which of them is believed. */
  readonly ip: string | undefined
}

/**
 * Reads what stands in front of the time in lines of one log, of which these are the first. Two addresses may be a
 * host and its client, or what X-Forwarded-For says and the proxy; `said` names the form that a log is said to have.
 */
export function frontReader(
  first: readonly CommonLine[],
  said: 'host' | 'client' | undefined,
): (line: CommonLine) => InFront {
  let pairs = 0
  let hosts = 0
  let hostsBehind = 0
  for (const { words } of first) {
    const [one, other] = words.map(addressIn)
    if (one !== undefined && other !== undefined) pairs += same(one, other) ? 0 : 1
    else if (other !== undefined && isName(words[0])) hosts++
    else if (one !== undefined && isName(words[1])) hostsBehind += words.length === 3 ? 1 : 0
  }
  // A client may send a name in X-Forwarded-For, and ask for a host by its address: the most lines tell.
  const areHosts = said === 'host' || pairs === 0 || hosts > pairs
  const areHostsBehind = said === 'client' || hostsBehind > pairs
  return ({ words }) => {
    const [one = '', other = ''] = words
    const unclear = { hasHost: false, ip: undefined }
    const addresses = distinctOf(words)
    if (one.includes(',') || addresses.isList) return unclear
    if (addressIn(one) === undefined) {
      if (addressIn(other) === undefined) return { hasHost: false, ip: one }
      const isClear = addresses.count === 1 && (one === '-' || hasServerPort(one) || (areHosts && isName(one)))
      return isClear ? { hasHost: true, ip: other } : unclear
    }
    // lighttpd has the host behind the address, and either may be asked for by an address.
    const hasHost = words.length >= 4 && addressIn(other) !== undefined
    if (addresses.count === 1) return hasHost ? { hasHost, ip: other } : { hasHost, ip: one }
    if (addresses.count > 2) return unclear
    if (hasHost) return said === 'host' || hasServerPort(one) ? { hasHost, ip: other } : unclear
    const isHostBehind =
      words.length === 3 && addressIn(other) !== undefined && (areHostsBehind || hasServerPort(other))
    return isHostBehind ? { hasHost, ip: one } : unclear
  }
}

function same(one: Address, other: Address): boolean {
  return formatAddress(one) === formatAddress(other)
}

function isName(word: string | undefined): boolean {
  return word !== undefined && word !== '-' && word !== 'unknown' && !word.includes(',')
}

/** The first port that systems give to clients: an address with one of these may be a client's, behind a proxy that logs it. */
const CLIENT_PORTS = 32_768

function hasServerPort(word: string): boolean {
  const [, port] = /[^:]:(\d{1,5})$/.exec(word) ?? []
  const isPort = port !== undefined && (word.includes(']') || word.indexOf(':') === word.lastIndexOf(':'))
  return isPort && Number(port) < CLIENT_PORTS
}

function distinctOf(words: readonly string[]): { readonly count: number; readonly isList: boolean } {
  const distinct = new Set<string>()
  let isList = false
  for (const word of words) {
    for (const part of word.split(',')) {
      const address = addressIn(part)
      if (address === undefined) continue
      distinct.add(formatAddress(address))
      isList ||= part !== word
    }
  }
  return { count: distinct.size, isList }
}
