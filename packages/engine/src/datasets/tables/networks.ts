import type { NetworkClass, NetworkRecord, NetworkTable, RangeHit, SystemTable } from '@sallyport/core'
import { findSegment, pickPartitions } from '../format/partitions.ts'
import {
  findHitList,
  IN_DATACENTER_RANGES,
  IN_VPN_RANGES,
  isNarrowHit,
  type RangeSource,
} from '../format/range-source.ts'
import type { Description, TableColumns } from '../format/tables.ts'
import { openListedAddresses } from './listed-addresses.ts'

/** Opens the network table over the columns of a compiled file. */
export function openNetworks(tables: TableColumns, systems: SystemTable, today: () => number): NetworkTable {
  const { columns } = tables
  const partitions = pickPartitions(columns, 'networks4', 'networks6')
  const records = { 4: columns['networks4.records'], 6: columns['networks6.records'] }
  const recordAt = createRecords(tables, systems)
  const listed = openListedAddresses(tables, recordAt, today)
  return {
    find(address) {
      const number = records[address.family][findSegment(partitions, address)] as number
      const entry = listed.find(address)
      return entry === -1 ? recordAt(number) : listed.record(entry, number)
    },
  }
}

/** What the lists say of a place: the hit that comes first, and the others. */
type HitSet = Pick<NetworkRecord, 'range' | 'also' | 'near' | 'exitsBeside'>

/** Creates records by number on first use, and keeps them, so that each is one object. Number 0 has none. */
function createRecords(
  { columns, description }: TableColumns,
  systems: SystemTable,
): (number: number) => NetworkRecord | undefined {
  const recordSystems = columns['records.systems']
  const recordEvidence = columns['records.evidence']
  const recordFlags = columns['records.flags']
  const sets = readHitSets(description)
  const kept = new Array<NetworkRecord | undefined>(recordSystems.length)

  function makeRecord(number: number): NetworkRecord {
    const system = recordSystems[number] as number
    const flags = recordFlags[number] as number
    const record = Object.freeze({
      ...(system === 0 ? {} : { system: systems.system(system - 1) }),
      ...(sets[recordEvidence[number] as number] as HitSet),
      inVpnRanges: (flags & IN_VPN_RANGES) !== 0,
      inDatacenterRanges: (flags & IN_DATACENTER_RANGES) !== 0,
    })
    kept[number] = record
    return record
  }

  return (number) => (number === 0 ? undefined : (kept[number] ?? makeRecord(number)))
}

/** Returns the sets of hits of a file; a hit is one object wherever it occurs. */
function readHitSets({ ranges, evidence }: Description): readonly HitSet[] {
  const hits: RangeHit[] = []
  const findHit = (code: number): RangeHit => {
    hits[code] ??= Object.freeze({ ...(ranges[findHitList(code)] as RangeSource), narrow: isNarrowHit(code) })
    return hits[code]
  }
  return evidence.map((codes) => {
    const hits = codes.map(findHit)
    const [range, ...also] = hits.filter(({ rule }) => rule !== 'neighbours')
    const beside = (networkClass: NetworkClass) =>
      hits.find((hit) => hit.rule === 'neighbours' && hit.networkClass === networkClass)
    const [near, exitsBeside] = [beside('residential_proxy'), beside('vpn')]
    return {
      ...(range === undefined ? {} : { range }),
      also: Object.freeze(also),
      ...(near === undefined ? {} : { near }),
      ...(exitsBeside === undefined ? {} : { exitsBeside }),
    }
  })
}
