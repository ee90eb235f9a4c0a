import {
  type Address,
  anonymises,
  compareAddresses,
  firstAddress,
  lastAddress,
  type NetworkClass,
  parseAddress,
  parsePrefix,
  reservedRow,
  SallyportError,
} from '@sallyport/core'
import { RESERVED } from '@sallyport/data/reserved'
import { requireMostlyGood } from './lines.ts'
import { createRangeWriter, type Ranges } from './ranges.ts'

/** What a list says of itself in the table of sources. */
export interface ListForm {
  readonly path: string
  readonly networkClass: NetworkClass
  /** Single addresses only: a prefix in the list is a bad line. */
  readonly single: boolean
  readonly family?: 4 | 6
}

/** No published list means a prefix this short; one that is there is an accident that would hold half the internet. */
const SHORTEST = { 4: 8, 6: 19 } as const

/** The share of a family's public space that a list may hold; the largest real one, of datacenters, holds 9 %. */
const MOST_COVERED = { anonymising: 1 / 16, other: 1 / 4 } as const
const PUBLIC_SPACE = { 4: 2 ** 32, 6: 2 ** 125 } as const

/** Services that everybody reaches: a list that calls one of them an anonymiser is poisoned or broken. */
const CANARIES = [
  ...['1.1.1.1', '1.0.0.1', '8.8.8.8', '8.8.4.4', '9.9.9.9', '208.67.222.222'],
  ...['198.41.0.4', '192.5.5.241', '193.0.14.129', '199.7.83.42'],
  ...['2606:4700:4700::1111', '2001:4860:4860::8888', '2620:fe::fe', '2001:503:ba3e::2:30'],
].map((text) => parseAddress(text) as Address)

interface Entry {
  readonly first: Address
  readonly last: Address
  readonly length: number
}

/**
 * Reads a list of CIDRs or addresses, one a line; `#` begins a comment. A line in another form, a prefix that is too
 * short, one that touches reserved space and one of the wrong family are bad lines. Throws `corrupt_data` naming the
 * file when more than 1 % of the lines are bad, when it holds a well-known public service as an anonymiser, or when it
 * holds an impossible share of the address space.
 */
export function readList(
  text: string,
  { path, networkClass, single, family }: ListForm,
): Readonly<Record<4 | 6, Ranges>> {
  const reserved = RESERVED.filter((row) => row.reserved).map(({ prefix }) => rangeOf(prefix) as Entry)
  const hides = anonymises(networkClass)
  const covered = { 4: 0, 6: 0 }
  const writers = { 4: createRangeWriter(), 6: createRangeWriter() }
  let good = 0
  let bad = 0
  for (const line of text.split('\n')) {
    const entryText = line.replace(/#.*/, '').trim()
    if (entryText === '') continue
    const entry = rangeOf(entryText)
    if (entry === undefined || !isFit(entry) || touchesReserved(entry)) {
      bad++
      continue
    }
    good++
    const canary = hides ? CANARIES.find((address) => holds(entry, address)) : undefined
    if (canary !== undefined) {
      throw new SallyportError(
        'corrupt_data',
        `${path}: holds a public service that is no ${networkClass}: ${entryText}`,
      )
    }
    const { family: entryFamily } = entry.first
    covered[entryFamily] += 2 ** (bitsOf(entryFamily) - entry.length)
    writers[entryFamily].add(entry.first, entry.last, 1)
  }
  requireMostlyGood({ good, bad }, path)
  const most = hides ? MOST_COVERED.anonymising : MOST_COVERED.other
  for (const of of [4, 6] as const) {
    if (covered[of] > PUBLIC_SPACE[of] * most) {
      throw new SallyportError('corrupt_data', `${path}: holds more than 1/${1 / most} of the IPv${of} space`)
    }
  }
  return { 4: writers[4].finish(), 6: writers[6].finish() }

  function touchesReserved(entry: Entry): boolean {
    return reservedRow(entry.first) !== undefined || reserved.some((range) => overlap(range, entry))
  }

  function isFit({ first, length }: Entry): boolean {
    if (family !== undefined && first.family !== family) return false
    return single ? length === bitsOf(first.family) : length >= SHORTEST[first.family]
  }
}

function rangeOf(text: string): Entry | undefined {
  const prefix = parsePrefix(text)
  if (prefix !== undefined) return { first: firstAddress(prefix), last: lastAddress(prefix), length: prefix.length }
  const address = parseAddress(text)
  return address === undefined ? undefined : { first: address, last: address, length: bitsOf(address.family) }
}

function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128
}

function holds({ first, last }: Entry, address: Address): boolean {
  return compareAddresses(first, address) <= 0 && compareAddresses(address, last) <= 0
}

function overlap(x: Entry, y: Entry): boolean {
  return compareAddresses(x.first, y.last) <= 0 && compareAddresses(y.first, x.last) <= 0
}
