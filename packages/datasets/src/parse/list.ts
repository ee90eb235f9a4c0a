import {
  type Address,
  address6,
  anonymises,
  formatAddress,
  type NetworkClass,
  parseAddress,
  reservedRow,
  SallyportError,
} from '@sallyport/core/tables'
import { RESERVED } from '@sallyport/data/reserved'
import type { EntryFormat, SourceRow } from '@sallyport/data/sources'
import { addressesBetween } from '../compile/segments.ts'
import { coverageOf } from './coverage.ts'
import { bitsOf, type Entry, holds, overlap, parseEntry } from './entry.ts'
import { type EntryWriter, readEntryLines, writeEntry } from './entry-lines.ts'
import { lineFormOf, writtenEntries } from './formats.ts'
import { requireMostlyGood } from './lines.ts'
import { createRangeWriter, firstOf, type Ranges } from './ranges.ts'

/** What a list says of itself in the table of sources. */
export interface ListForm {
  readonly path: string
  readonly format: EntryFormat
  /** `unknown` where the list asserts no class. */
  readonly networkClass: NetworkClass
  /** Single addresses only: a prefix in the list is a bad line. */
  readonly single: boolean
  readonly family?: 4 | 6
  /** What it can plausibly cover: IPv4 addresses, and IPv6 networks of /64. */
  readonly covers?: { readonly ipv4: number; readonly ipv6: number }
  /** Reserved ranges are left out and are no bad lines. */
  readonly reservedIsExpected?: boolean
}

/** A list that was read and found plausible. */
export interface AddressList {
  readonly ranges: Readonly<Record<4 | 6, Ranges>>
  /** When it was made, where it says so, in milliseconds since the epoch. */
  readonly made?: number
}

/** How a row of the table of sources says its list is to be read. */
export function listForm(row: SourceRow, path: string): ListForm {
  const { kind, format, networkClass = 'unknown', family, covers, reservedIsExpected = false } = row
  return {
    path,
    format: format as EntryFormat,
    networkClass,
    single: kind === 'addresses',
    reservedIsExpected,
    ...(family === undefined ? {} : { family }),
    ...(covers === undefined ? {} : { covers }),
  }
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

/**
 * Reads a list of addresses, CIDRs or ranges in its format. An entry in another form, one that is too wide, one that
 * touches reserved space and one of the wrong family are bad. Throws `corrupt_data` naming the file when more than 1 %
 * of the entries are bad, when it holds a well-known public service as an anonymiser, or when all entries together
 * cover more than the list plausibly can.
 */
export function readList(bytes: Buffer, form: ListForm): AddressList {
  const entries: EntryWriter = { ranges: { 4: createRangeWriter(4), 6: createRangeWriter(6) }, unreadable: 0 }
  const lineForm = lineFormOf(form.format)
  if (lineForm !== undefined) {
    readEntryLines(bytes, lineForm, entries)
    return { ranges: judge(entries, form) }
  }
  const { entries: written, made } = writtenEntries(bytes.toString('utf8'), form.format, form.path)
  for (const text of written) writeEntry(text, entries)
  return { ranges: judge(entries, form), ...(made === undefined ? {} : { made }) }
}

/** What a family's entries were found to be; the good ones are kept. */
interface Judged {
  readonly ranges: Ranges
  readonly bad: number
  /** Addresses that the good ones hold, those twice that overlap. */
  readonly covered: number
}

/** Keeps the good entries of a list that is plausible as a whole. */
function judge({ ranges, unreadable }: EntryWriter, form: ListForm): AddressList['ranges'] {
  const judged = { 4: judge4(ranges[4].finish(), form), 6: judge6(ranges[6].finish(), form) }
  const good = judged[4].ranges.count + judged[6].ranges.count
  requireMostlyGood({ good, bad: unreadable + judged[4].bad + judged[6].bad }, form.path)
  for (const of of [4, 6] as const) {
    const most = mostCovered(of, form)
    // Entries may overlap, so that their sum is an upper bound: only where that is too much are they put together.
    if (judged[of].covered > most && coverageOf(judged[of].ranges) > most) {
      throw new SallyportError('corrupt_data', `${form.path}: holds more of the IPv${of} space than such a list can`)
    }
  }
  return { 4: judged[4].ranges, 6: judged[6].ranges }
}

/** The most addresses that an entry may hold. */
function largestOf(of: 4 | 6, { family, single }: ListForm): number {
  if (family !== undefined && of !== family) return 0
  return single ? 1 : 2 ** (bitsOf(of) - SHORTEST[of])
}

function judge4(read: Ranges, form: ListForm): Judged {
  const { firsts, lasts, count } = read
  const largest = largestOf(4, form)
  const { hides, reservedIsExpected } = manners(form)
  let kept = 0
  let bad = 0
  let covered = 0
  for (let range = 0; range < count; range++) {
    const first = firsts[range] as number
    const last = lasts[range] as number
    const isWatched = WATCHED_4[first >>> 24] === 1 || first >>> 24 !== last >>> 24
    const isReserved = isWatched && touchesReserved4(first, last)
    if (isReserved || last - first >= largest) {
      if (!(isReserved && reservedIsExpected)) bad++
      continue
    }
    if (hides && isWatched) refuseCanary(canary4(first, last), form)
    covered += last - first + 1
    firsts[kept] = first
    lasts[kept++] = last
  }
  return { ranges: firstOf(read, kept), bad, covered }
}

function judge6(read: Ranges, form: ListForm): Judged {
  const { firsts, lasts, count } = read
  const largest = largestOf(6, form)
  const { hides, reservedIsExpected } = manners(form)
  let kept = 0
  let bad = 0
  let covered = 0
  for (let range = 0; range < count; range++) {
    const first = (firsts[range * 4] as number) >>> 16
    const isWatched = WATCHED_6[first] === 1 || first !== (lasts[range * 4] as number) >>> 16
    const entry = isWatched ? { first: addressAt(firsts, range), last: addressAt(lasts, range) } : undefined
    const isReserved = entry !== undefined && touchesReserved6(entry)
    const size = addressesBetween(6, firsts, range, lasts, range) + 1
    if (isReserved || size > largest) {
      if (!(isReserved && reservedIsExpected)) bad++
      continue
    }
    if (hides && entry !== undefined) refuseCanary(canary6(entry), form)
    covered += size
    firsts.copyWithin(kept * 4, range * 4, range * 4 + 4)
    lasts.copyWithin(kept * 4, range * 4, range * 4 + 4)
    kept++
  }
  return { ranges: firstOf(read, kept), bad, covered }
}

/** What of a list's form each of its entries is judged by. */
function manners({ networkClass, reservedIsExpected = false }: ListForm) {
  return { hides: anonymises(networkClass), reservedIsExpected }
}

/** The well-known public service that a range holds. */
export function canaryIn({ family, firsts, lasts }: Ranges, range: number): Address | undefined {
  if (family === 4) return canary4(firsts[range] as number, lasts[range] as number)
  return canary6({ first: addressAt(firsts, range), last: addressAt(lasts, range) })
}

function canary4(first: number, last: number): Address | undefined {
  return CANARIES_4.find(({ d }) => first <= d >>> 0 && d >>> 0 <= last)
}

function canary6(entry: Entry): Address | undefined {
  return CANARIES_6.find((address) => holds(entry, address))
}

function addressAt(words: Uint32Array, position: number): Address {
  const at = position * 4
  return address6(words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number)
}

function refuseCanary(canary: Address | undefined, { path, networkClass }: ListForm): void {
  if (canary === undefined) return
  const text = formatAddress(canary)
  throw new SallyportError('corrupt_data', `${path}: holds a public service that is no ${networkClass}: ${text}`)
}

const RESERVED_RANGES = RESERVED.filter((row) => row.reserved).map(({ prefix }) => parseEntry(prefix) as Entry)
const RESERVED_4 = RESERVED_RANGES.filter(({ first }) => first.family === 4)
const RESERVED_6 = RESERVED_RANGES.filter(({ first }) => first.family === 6)
const CANARIES_4 = CANARIES.filter(({ family }) => family === 4)
const CANARIES_6 = CANARIES.filter(({ family }) => family === 6)

/** The /8s with reserved space or a canary in them: most entries are in none, and need no further look. */
const WATCHED_4 = new Uint8Array(256)
for (const { first, last } of RESERVED_4) WATCHED_4.fill(1, first.d >>> 24, (last.d >>> 24) + 1)
for (const { d } of CANARIES_4) WATCHED_4[d >>> 24] = 1

function touchesReserved4(from: number, to: number): boolean {
  return RESERVED_4.some(({ first, last }) => from <= last.d >>> 0 && to >= first.d >>> 0)
}

/** The /16s with reserved space or a canary in them; what is outside 2000::/3 is reserved itself. */
const WATCHED_6 = new Uint8Array(2 ** 16).fill(1)
WATCHED_6.fill(0, 0x2000, 0x4000)
for (const { first, last } of RESERVED_6) WATCHED_6.fill(1, first.a >>> 16, (last.a >>> 16) + 1)
for (const { a } of CANARIES_6) WATCHED_6[a >>> 16] = 1

function touchesReserved6(entry: Entry): boolean {
  return reservedRow(entry.first) !== undefined || RESERVED_6.some((range) => overlap(range, entry))
}

/** Addresses that a list may cover of a family: a share of the public space, or less where its row says so. */
function mostCovered(family: 4 | 6, { networkClass, covers }: ListForm): number {
  const share = anonymises(networkClass) ? MOST_COVERED.anonymising : MOST_COVERED.other
  const stated = family === 4 ? covers?.ipv4 : covers === undefined ? undefined : covers.ipv6 * 2 ** 64
  return Math.min(PUBLIC_SPACE[family] * share, stated ?? Number.POSITIVE_INFINITY)
}
