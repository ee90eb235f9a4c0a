import {
  findAddress,
  findSegment4,
  findSegment6,
  isRepeated,
  type NetworkRecord,
  type NetworkTable,
  type RangeHit,
  type SystemTable,
} from '@sallyport/core/tables'
import { dayNumber } from '../format/days.ts'
import { partitionOf4, partitionOf6 } from '../format/partitions.ts'
import {
  IN_DATACENTER_RANGES,
  IN_VPN_RANGES,
  isNarrowHit,
  listOfHit,
  type RangeSource,
} from '../format/range-source.ts'
import type { DecodedTables, Description } from '../format/tables.ts'

/** How listed addresses of compiled tables expire. */
export interface LoadOptions {
  /** Days since the epoch, by which listed addresses expire; the system's clock if absent. */
  readonly today?: () => number
  /**
   * When the publisher of a source last said that it is what is published, in days since the epoch: listed addresses live
   * on from then. Asked for each listed address, so it may change while the tables are in use; never if absent.
   */
  readonly confirmed?: Confirmed
}

export type Confirmed = (source: string) => number | undefined

const NOTHING: NetworkRecord = Object.freeze({
  also: Object.freeze([]),
  inVpnRanges: false,
  inDatacenterRanges: false,
})

/** What lists say of a place: the hit that comes first, and the others. */
interface HitSet {
  readonly range: RangeHit | undefined
  readonly also: readonly RangeHit[]
}

/** The sets of hits of a file; a hit is one object wherever it occurs. */
function hitSets({ ranges, evidence }: Description): readonly HitSet[] {
  const hits: RangeHit[] = []
  const hitOf = (code: number): RangeHit => {
    hits[code] ??= Object.freeze({ ...(ranges[listOfHit(code)] as RangeSource), narrow: isNarrowHit(code) })
    return hits[code]
  }
  return evidence.map((codes) => {
    const [range, ...also] = codes.map(hitOf)
    return { range, also: Object.freeze(also) }
  })
}

/** The network table over the columns of a compiled file. */
export function openNetworks(
  { columns, description }: DecodedTables,
  systems: SystemTable,
  { today, confirmed }: Required<LoadOptions>,
): NetworkTable {
  const four = partitionOf4(columns, 'networks4')
  const six = partitionOf6(columns, 'networks6')
  const records4 = columns['networks4.records']
  const records6 = columns['networks6.records']
  const recordSystems = columns['records.systems']
  const recordEvidence = columns['records.evidence']
  const recordFlags = columns['records.flags']
  const sets = hitSets(description)
  const kept = new Array<NetworkRecord | undefined>(recordSystems.length)
  // What is known of a record is kept by its object, so one of a listed address is kept as well: a few hits to a record.
  const keptListed = new Map<number, NetworkRecord>()
  const listedSets = createListedSets(description.addressLists)
  const datedDays = description.addressLists.map(({ date }) => dayNumber(Date.parse(date)))
  const listed = {
    filter: columns['addresses.filter'],
    four: columns['addresses.four'],
    six: columns['addresses.six'],
  }

  function recordAt(number: number): NetworkRecord {
    return kept[number] ?? makeRecord(number)
  }

  function makeRecord(number: number): NetworkRecord {
    const system = recordSystems[number] as number
    const { range, also } = sets[recordEvidence[number] as number] as HitSet
    const flags = recordFlags[number] as number
    const record = Object.freeze({
      ...(system === 0 ? {} : { system: systems.system(system - 1) }),
      ...(range === undefined ? {} : { range }),
      also,
      inVpnRanges: (flags & IN_VPN_RANGES) !== 0,
      inDatacenterRanges: (flags & IN_DATACENTER_RANGES) !== 0,
    })
    kept[number] = record
    return record
  }

  /** The last day of an entry that was compiled with this one: its life begins again when its list is confirmed. */
  function lastDay(compiled: number, list: number): number {
    const { source } = description.addressLists[list] as RangeSource
    const day = compiled === 0 ? undefined : confirmed(source)
    return day === undefined ? compiled : compiled + Math.max(0, day - (datedDays[list] as number))
  }

  /** The record of that number with the hits of the lists that name the address and hold; few addresses come here. */
  function withListed(number: number, first: number): NetworkRecord | undefined {
    let set = 0
    for (let entry = first; entry === first || isRepeated(listed, entry); entry++) {
      const list = columns['addresses.lists'][entry] as number
      const expires = lastDay(columns['addresses.expires'][entry] as number, list)
      if (expires !== 0 && expires < today()) continue
      set = listedSets.with(set, list, expires)
    }
    const record = number === 0 ? undefined : recordAt(number)
    if (set === 0) return record
    const key = number * 2 ** 24 + set
    const known = keptListed.get(key)
    if (known !== undefined) return known
    const [range, ...also] = listedSets.hits(set)
    const around = record ?? NOTHING
    const prefixes = around.range === undefined ? around.also : [around.range, ...around.also]
    const made: NetworkRecord = Object.freeze({
      ...around,
      ...(range === undefined ? {} : { range }),
      also: Object.freeze([...also, ...prefixes]),
    })
    keptListed.set(key, made)
    return made
  }

  return {
    find(address) {
      const { family, a, b, c, d } = address
      const number = (
        family === 4 ? records4[findSegment4(four, d)] : records6[findSegment6(six, a, b, c, d)]
      ) as number
      const entry = findAddress(listed, address)
      if (entry !== -1) return withListed(number, entry)
      return number === 0 ? undefined : recordAt(number)
    },
  }
}

/** The sets of lists that name one address, each numbered once; set 0 is empty. */
interface ListedSets {
  /** The set with a further list, of which entries hold up to a day, in days since the epoch; 0: for ever. */
  with(set: number, list: number, expires: number): number
  /** In order of precedence. */
  hits(set: number): readonly RangeHit[]
}

function createListedSets(lists: Description['addressLists']): ListedSets {
  const sets: (readonly RangeHit[])[] = [[]]
  const longer = new Map<number, number>()
  return {
    with(set, list, expires) {
      const key = set * 2 ** 24 + list * 2 ** 16 + expires
      const known = longer.get(key)
      if (known !== undefined) return known
      const hit = { ...(lists[list] as RangeSource), narrow: true, ...(expires === 0 ? {} : { expires }) }
      sets.push([...(sets[set] as readonly RangeHit[]), Object.freeze(hit)])
      longer.set(key, sets.length - 1)
      return sets.length - 1
    },
    hits: (set) => sets[set] as readonly RangeHit[],
  }
}
