import type { NetworkClass, SystemEvidence } from '@sallyport/core'
import { findHitList, type RangeSource } from '../format/range-source.ts'
import type { PerFamily } from '../parse/contents.ts'
import { narrowRanges, type Ranges } from '../ranges/ranges.ts'
import { type Segments, valueAt } from '../ranges/segments.ts'
import type { Outlines } from './outlines.ts'
import type { Parts } from './parts.ts'
import { isOurs } from './records.ts'

const HOSTING = 1
const MOBILE = 2
const ACCESS = 4

/** A prefix of a /24 or longer names machines; a wider one names a network. */
export const LARGEST_NARROW = 256

/** Maps the class of a list to the bits that it sets for systems of which it holds parts. */
const MEANINGS: Partial<Readonly<Record<NetworkClass, number>>> = {
  hosting: HOSTING,
  datacenter: HOSTING,
  mobile: MOBILE,
  residential_clean: ACCESS,
}

/** The lists as they were combined into records. */
interface Combined {
  readonly segments: Segments
  readonly records: Readonly<Record<'systems' | 'evidence', readonly number[]>>
  /** Sets of hits, as the records count them. */
  readonly sets: readonly (readonly number[])[]
  /** Lists by position, as the hits count them. */
  readonly lists: readonly RangeSource[]
  readonly isRented: (index: number) => boolean
}

/** Collects what the lists and the outline say of each system, by position. */
export function collectEvidence(
  { lists: read, lines, systemLists }: Parts,
  { asns, layers: { 4: systems }, readShape }: Outlines,
  { segments, records, sets, lists, isRented }: Combined,
): (index: number) => SystemEvidence {
  const size = asns.length
  const meanings = lists.map(({ networkClass, rule }) => (isOurs(rule) ? 0 : (MEANINGS[networkClass] ?? 0)))
  const ofSet = Uint8Array.from(sets, (hits) =>
    hits.reduce((all, hit) => all | (meanings[findHitList(hit)] as number), 0),
  )
  const counter = () => new Float64Array(size)
  const sums = { all: counter(), hosting: counter(), mobile: counter(), access: counter() }
  const exits = read.filter(({ networkClass }) => networkClass === 'vpn' || networkClass === 'tor')
  const exitBlocks = countBlocks(
    exits.map(({ ranges }) => ranges),
    systems,
    size,
  )
  const lineBlocks = countBlocks(lines, systems, size)
  // The last segment is the reserved top of the family, which belongs to no system.
  for (let segment = 0; segment + 1 < segments.count; segment++) {
    const record = segments.values[segment] as number
    const system = (records.systems[record] as number) - 1
    if (system === -1) continue
    const start = segments.starts[segment] as number
    const addresses = (segments.starts[segment + 1] as number) - start
    const evidence = ofSet[records.evidence[record] as number] as number
    add(sums.all, system, addresses)
    if (evidence & HOSTING) add(sums.hosting, system, addresses)
    if (evidence & MOBILE) add(sums.mobile, system, addresses)
    if (evidence & ACCESS) add(sums.access, system, addresses)
  }
  const torListed = read.some(({ networkClass }) => networkClass === 'tor')
  return (system) => {
    const all = sums.all[system] as number
    const share = (part: Float64Array) => (all === 0 ? 0 : (part[system] as number) / all)
    return {
      listed: findListed(asns[system] as number, systemLists),
      hosting: share(sums.hosting),
      mobile: share(sums.mobile),
      access: share(sums.access),
      exitBlocks: exitBlocks[system] as number,
      rented: isRented(system),
      lineBlocks: lineBlocks[system] as number,
      torListed,
      shape: readShape(system),
    }
  }
}

/** Counts the /24s of each system that hold a listed address. */
function countBlocks(lists: readonly PerFamily<Ranges>[], systems: Segments, size: number): Uint32Array {
  const blocks = new Set<number>()
  for (const ranges of lists) {
    for (const { first } of narrowRanges(ranges, LARGEST_NARROW)) blocks.add(first >>> 8)
  }
  const counts = new Uint32Array(size + 1)
  for (const block of blocks) {
    const system = valueAt(systems, Uint32Array.of(block * LARGEST_NARROW))
    counts[system] = (counts[system] as number) + 1
  }
  return counts.subarray(1)
}

function findListed(asn: number, lists: Parts['systemLists']): SystemEvidence['listed'] {
  for (const { source, asType, systemList } of lists) {
    if (asType !== undefined && systemList.has(asn)) return { type: asType, source }
  }
  return undefined
}

function add(sums: Float64Array, system: number, addresses: number): void {
  sums[system] = (sums[system] as number) + addresses
}
