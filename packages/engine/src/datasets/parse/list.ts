import { type Address, anonymises, formatAddress, parseAddress, reservedRow, SallyportError } from '@sallyport/core'
import { PUBLIC_SERVICES } from '@sallyport/data/public-services'
import { RESERVED } from '@sallyport/data/reserved'
import type { EntryFormat, SourceRow } from '@sallyport/data/sources'
import { measureCoverage } from '../ranges/coverage.ts'
import { type Entry, entrySize, holds, overlap, parseEntry } from '../ranges/entry.ts'
import { createRangeWriter, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { type WrittenEntries, writtenEntries } from './formats.ts'
import { requireMostlyGood } from './lines.ts'

/** The members of a row that say what its list may hold. */
export type ListRow = Pick<SourceRow, 'kind' | 'format' | 'networkClass' | 'family' | 'covers' | 'reservedIsExpected'>

/** A list that was read and found plausible. */
export interface AddressList extends Pick<WrittenEntries, 'services' | 'made'> {
  /** The value of a range is the number of its service, from 1, in a list that names services. */
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  /** How many entries were bad and were left out. */
  readonly left: number
}

/** Slips of a publisher that cost a short list these lines alone. */
const FEW_BAD = 3

/** No published list means a prefix shorter than a /8 or a /19; one that is there is an accident that would hold half the internet. */
const MAX_ENTRY = { 4: 2 ** (32 - 8), 6: 2 ** (128 - 19) } as const

/** The share of a family's public space that a list may hold; the largest real one, of datacenters, holds 9 %. */
const MAX_COVERED = { anonymising: 1 / 16, other: 1 / 4 } as const
const PUBLIC_SPACE = { 4: 2 ** 32, 6: 2 ** 125 } as const

/** A list that calls one of these an anonymiser is poisoned or broken. */
const CANARIES = PUBLIC_SERVICES.map((text) => parseAddress(text) as Address)

/**
 * Reads a list of addresses, CIDRs or ranges in its format. An entry in another form, one that is too wide, one that touches reserved space
 * and one of the wrong family are bad and left out. Throws `corrupt_data` naming the file when more than 1 % of the entries are bad (of a
 * short list more than three), when it holds a well-known public service as an anonymiser, or when all entries together cover more than the
 * list plausibly can.
 */
export function readList(bytes: Buffer, row: ListRow, path: string): AddressList {
  const { entries, serviceNumbers, ...written } = writtenEntries(bytes, row.format as EntryFormat, path)
  return { ...readEntries(entries, row, path, serviceNumbers), ...written }
}

/** Reads the good entries of a list that is plausible as a whole. */
function readEntries(
  entries: Iterable<string>,
  row: ListRow,
  path: string,
  serviceNumbers?: readonly number[],
): Pick<AddressList, 'ranges' | 'left'> {
  const { networkClass, reservedIsExpected = false } = row
  const writers = { 4: createRangeWriter(4), 6: createRangeWriter(6) }
  const hides = isAnonymiser(row)
  const sizes = { 4: 0, 6: 0 }
  let good = 0
  let bad = 0
  let at = -1
  for (const text of entries) {
    at++
    const entry = parseEntry(text)
    const isReserved = entry !== undefined && touchesReserved(entry)
    const size = entry === undefined ? 0 : entrySize(entry)
    if (entry === undefined || isReserved || size > maxEntrySize(entry.first.family, row)) {
      if (!(isReserved && reservedIsExpected)) bad++
      continue
    }
    const canary = hides ? canaryIn(entry) : undefined
    if (canary !== undefined) {
      const message = `${path}: the public service ${formatAddress(canary)} is not ${networkClass}`
      throw new SallyportError('corrupt_data', message)
    }
    writers[entry.first.family].add(entry.first, entry.last, serviceNumbers?.[at] ?? 1)
    sizes[entry.first.family] += size
    good++
  }
  requireMostlyGood({ good, bad }, path, FEW_BAD)
  const ranges = { 4: writers[4].finish(), 6: writers[6].finish() }
  for (const family of FAMILIES) {
    const max = maxCoverage(family, row)
    // Entries may overlap, so their sum is an upper bound: the exact figure is only needed above it.
    if (sizes[family] > max && measureCoverage(ranges[family]) > max) {
      throw new SallyportError('corrupt_data', `${path}: the list covers too much of the IPv${family} space`)
    }
  }
  return { ranges, left: bad }
}

/** Returns the most addresses that an entry may hold. An entry larger than the whole list can plausibly cover is bad. */
function maxEntrySize(family: 4 | 6, row: ListRow): number {
  if (row.family !== undefined && family !== row.family) return 0
  if (row.kind === 'addresses' || row.kind === 'line-names') return 1
  return Math.min(MAX_ENTRY[family], maxCoverage(family, row))
}

/** Finds a well-known public service that an entry holds. */
export function canaryIn(entry: Entry): Address | undefined {
  return CANARIES.find((address) => holds(entry, address))
}

const RESERVED_RANGES = RESERVED.filter((row) => row.reserved).map(({ prefix }) => parseEntry(prefix) as Entry)

function touchesReserved(entry: Entry): boolean {
  return reservedRow(entry.first) !== undefined || RESERVED_RANGES.some((range) => overlap(range, entry))
}

/** Returns how many addresses of a family a list may cover: a share of the public space, or less when its row says so. */
function maxCoverage(family: 4 | 6, row: ListRow): number {
  const { covers } = row
  const share = isAnonymiser(row) ? MAX_COVERED.anonymising : MAX_COVERED.other
  const stated = family === 4 ? covers?.ipv4 : covers === undefined ? undefined : covers.ipv6 * 2 ** 64
  return Math.min(PUBLIC_SPACE[family] * share, stated ?? Number.POSITIVE_INFINITY)
}

function isAnonymiser({ networkClass }: ListRow): boolean {
  return networkClass !== undefined && anonymises(networkClass)
}
