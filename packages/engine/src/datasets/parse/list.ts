import {
  type Address,
  anonymises,
  formatAddress,
  type NetworkClass,
  parseAddress,
  reservedRow,
  SallyportError,
} from '@sallyport/core'
import { RESERVED } from '@sallyport/data/reserved'
import type { EntryFormat, SourceRow } from '@sallyport/data/sources'
import { coverageOf } from '../ranges/coverage.ts'
import { bitsOf, type Entry, entrySize, holds, overlap, parseEntry } from '../ranges/entry.ts'
import { createRangeWriter, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { writtenEntries } from './formats.ts'
import { requireMostlyGood } from './lines.ts'

/** How the table of sources describes a list. */
export interface ListForm {
  readonly path: string
  readonly format: EntryFormat
  /** `unknown` where the list asserts no class. */
  readonly networkClass: NetworkClass
  /** Single addresses only: a prefix in the list is a bad line. */
  readonly single: boolean
  readonly family?: 4 | 6 | undefined
  /** Its plausible cover: IPv4 addresses, and IPv6 networks of /64. */
  readonly covers?: { readonly ipv4: number; readonly ipv6: number } | undefined
  /** Reserved ranges are left out and are no bad lines. */
  readonly reservedIsExpected?: boolean | undefined
}

/** A list that was read and found plausible. */
export interface AddressList {
  /** The value of a range is the number of its service, from 1, in a list that names services. */
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  readonly services?: readonly string[] | undefined
  /** When it was made, where it says so, in milliseconds since the epoch. */
  readonly made?: number | undefined
  /** How many entries were bad and were left out. */
  readonly left: number
}

/** How a row of the table of sources says its list is to be read. */
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

/** Services that everybody reaches: a list that calls one of them an anonymiser is poisoned or broken. */
const CANARIES = [
  '1.1.1.1',
  '1.0.0.1',
  '8.8.8.8',
  '8.8.4.4',
  '9.9.9.9',
  '208.67.222.222',
  '198.41.0.4',
  '192.5.5.241',
  '193.0.14.129',
  '199.7.83.42',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2620:fe::fe',
  '2001:503:ba3e::2:30',
].map((text) => parseAddress(text) as Address)

/**
 * Reads a list of addresses, CIDRs or ranges in its format. An entry in another form, one that is too wide, one that
 * touches reserved space and one of the wrong family are bad and left out. Throws `corrupt_data` naming the file when more than
 * 1 % of the entries are bad (of a short list more than three), when it holds a well-known public service as an anonymiser, or when all entries together
 * cover more than the list plausibly can.
 */
export function readList(bytes: Buffer, form: ListForm): AddressList {
  const { entries, serviceOf, services, made } = writtenEntries(bytes, form.format, form.path)
  return {
    ...goodEntries(entries, form, serviceOf),
    ...(services === undefined ? {} : { services }),
    ...(made === undefined ? {} : { made }),
  }
}

/** The good entries of a list that is plausible as a whole. */
function goodEntries(
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
    if (sizes[family] > max && coverageOf(ranges[family]) > max) {
      throw new SallyportError('corrupt_data', `${path}: holds more of the IPv${family} space than such a list can`)
    }
  }
  return { ranges, left: bad }
}

/** The most addresses that an entry may hold: one that is more than the whole list can plausibly cover is a bad one. */
function maxEntrySize(family: 4 | 6, form: ListForm): number {
  if (form.family !== undefined && family !== form.family) return 0
  if (form.single) return 1
  return Math.min(2 ** (bitsOf(family) - MIN_PREFIX_LENGTH[family]), maxCoverage(family, form))
}

/** The well-known public service that an entry holds. */
export function canaryIn(entry: Entry): Address | undefined {
  return CANARIES.find((address) => holds(entry, address))
}

function refuseCanary(entry: Entry, { path, networkClass }: ListForm): void {
  const canary = canaryIn(entry)
  if (canary === undefined) return
  const text = formatAddress(canary)
  throw new SallyportError('corrupt_data', `${path}: holds a public service that is not ${networkClass}: ${text}`)
}

const RESERVED_RANGES = RESERVED.filter((row) => row.reserved).map(({ prefix }) => parseEntry(prefix) as Entry)

function touchesReserved(entry: Entry): boolean {
  return reservedRow(entry.first) !== undefined || RESERVED_RANGES.some((range) => overlap(range, entry))
}

/** Addresses that a list may cover of a family: a share of the public space, or less where its row says so. */
function maxCoverage(family: 4 | 6, { networkClass, covers }: ListForm): number {
  const share = anonymises(networkClass) ? MAX_COVERED.anonymising : MAX_COVERED.other
  const stated = family === 4 ? covers?.ipv4 : covers === undefined ? undefined : covers.ipv6 * 2 ** 64
  return Math.min(PUBLIC_SPACE[family] * share, stated ?? Number.POSITIVE_INFINITY)
}
