import {
  type Address,
  anonymises,
  formatAddress,
  type NetworkClass,
  parseAddress,
  reservedRow,
  SallyportError,
} from '@sallyport/core'
import { PUBLIC_SERVICES } from '@sallyport/data/public-services'
import { RESERVED } from '@sallyport/data/reserved'
import type { EntryFormat, SourceRow } from '@sallyport/data/sources'
import { measureCoverage } from '../ranges/coverage.ts'
import { addressBits, type Entry, entrySize, holds, overlap, parseEntry } from '../ranges/entry.ts'
import { createRangeWriter, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { writtenEntries } from './formats.ts'
import { requireMostlyGood } from './lines.ts'

/** How the table of sources describes a list. */
export interface ListForm {
  readonly path: string
  readonly format: EntryFormat
  /** Is `unknown` when the list has no class. */
  readonly networkClass: NetworkClass
  /** Single addresses only: a prefix in the list is a bad line. */
  readonly single: boolean
  readonly family?: 4 | 6 | undefined
  /** The list may cover so much: IPv4 addresses, and IPv6 networks of /64. */
  readonly covers?: { readonly ipv4: number; readonly ipv6: number } | undefined
  /** Reserved ranges are left out and are no bad lines. */
  readonly reservedIsExpected?: boolean | undefined
}

/** A list that was read and found plausible. */
export interface AddressList {
  /** The value of a range is the number of its service, from 1, in a list that names services. */
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  readonly services?: readonly string[] | undefined
  /** When the list was made, if it says so, in milliseconds since the epoch. */
  readonly made?: number | undefined
  /** How many entries were bad and were left out. */
  readonly left: number
}

/** Returns how to read the list of a row. */
export function listForm(row: SourceRow, path: string): ListForm {
  const { kind, format, networkClass = 'unknown', family, covers, reservedIsExpected = false } = row
  return {
    path,
    format: format as EntryFormat,
    networkClass,
    single: kind === 'addresses' || kind === 'line-names',
    reservedIsExpected,
    family,
    covers,
  }
}

/** Slips of a publisher that cost a short list these lines alone. */
const FEW_BAD = 3

/** No published list means a prefix this short; one that is there is an accident that would hold half the internet. */
const MIN_PREFIX_LENGTH = { 4: 8, 6: 19 } as const

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
export function readList(bytes: Buffer, form: ListForm): AddressList {
  const { entries, serviceOf, services, made } = writtenEntries(bytes, form.format, form.path)
  return {
    ...readEntries(entries, form, serviceOf),
    ...(services === undefined ? {} : { services }),
    ...(made === undefined ? {} : { made }),
  }
}

/** Reads the good entries of a list that is plausible as a whole. */
function readEntries(
  entries: Iterable<string>,
  form: ListForm,
  serviceOf?: readonly number[],
): Pick<AddressList, 'ranges' | 'left'> {
  const { path, networkClass, reservedIsExpected = false } = form
  const writers = { 4: createRangeWriter(4), 6: createRangeWriter(6) }
  const hides = anonymises(networkClass)
  const sizes = { 4: 0, 6: 0 }
  let good = 0
  let bad = 0
  let at = -1
  for (const text of entries) {
    at++
    const entry = parseEntry(text)
    const isReserved = entry !== undefined && touchesReserved(entry)
    const size = entry === undefined ? 0 : entrySize(entry)
    if (entry === undefined || isReserved || size > maxEntrySize(entry.first.family, form)) {
      if (!(isReserved && reservedIsExpected)) bad++
      continue
    }
    if (hides) refuseCanary(entry, form)
    writers[entry.first.family].add(entry.first, entry.last, serviceOf?.[at] ?? 1)
    sizes[entry.first.family] += size
    good++
  }
  requireMostlyGood({ good, bad }, path, FEW_BAD)
  const ranges = { 4: writers[4].finish(), 6: writers[6].finish() }
  for (const family of FAMILIES) {
    const max = maxCoverage(family, form)
    // Entries may overlap, so their sum is an upper bound: the exact figure is only needed above it.
    if (sizes[family] > max && measureCoverage(ranges[family]) > max) {
      throw new SallyportError('corrupt_data', `${path}: the list covers too much of the IPv${family} space`)
    }
  }
  return { ranges, left: bad }
}

/** Returns the most addresses that an entry may hold. An entry larger than the whole list can plausibly cover is bad. */
function maxEntrySize(family: 4 | 6, form: ListForm): number {
  if (form.family !== undefined && family !== form.family) return 0
  if (form.single) return 1
  return Math.min(2 ** (addressBits(family) - MIN_PREFIX_LENGTH[family]), maxCoverage(family, form))
}

/** Finds a well-known public service that an entry holds. */
export function canaryIn(entry: Entry): Address | undefined {
  return CANARIES.find((address) => holds(entry, address))
}

function refuseCanary(entry: Entry, { path, networkClass }: ListForm): void {
  const canary = canaryIn(entry)
  if (canary === undefined) return
  const text = formatAddress(canary)
  throw new SallyportError('corrupt_data', `${path}: the public service ${text} is not ${networkClass}`)
}

const RESERVED_RANGES = RESERVED.filter((row) => row.reserved).map(({ prefix }) => parseEntry(prefix) as Entry)

function touchesReserved(entry: Entry): boolean {
  return reservedRow(entry.first) !== undefined || RESERVED_RANGES.some((range) => overlap(range, entry))
}

/** Returns how many addresses of a family a list may cover: a share of the public space, or less when its row says so. */
function maxCoverage(family: 4 | 6, { networkClass, covers }: ListForm): number {
  const share = anonymises(networkClass) ? MAX_COVERED.anonymising : MAX_COVERED.other
  const stated = family === 4 ? covers?.ipv4 : covers === undefined ? undefined : covers.ipv6 * 2 ** 64
  return Math.min(PUBLIC_SPACE[family] * share, stated ?? Number.POSITIVE_INFINITY)
}
