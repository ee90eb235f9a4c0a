import {
  findSegment4,
  findSegment6,
  type NetworkRecord,
  type NetworkTable,
  type RangeHit,
  type SystemTable,
} from '@sallyport/core'
import { IN_DATACENTER_RANGES, IN_VPN_RANGES } from '../compile/records.ts'
import { partitionsOf } from './partitions.ts'
import type { DecodedTables } from './read.ts'

/** The network table over the columns of a compiled file. */
export function openNetworks({ columns, description }: DecodedTables, systems: SystemTable): NetworkTable {
  const { four, six } = partitionsOf(columns, 'networks')
  const records4 = columns['networks4.records']
  const records6 = columns['networks6.records']
  const recordSystems = columns['records.systems']
  const recordRanges = columns['records.ranges']
  const recordFlags = columns['records.flags']
  const hits: readonly RangeHit[] = description.ranges.map((range) => Object.freeze({ ...range }))
  const kept = new Array<NetworkRecord | undefined>(recordSystems.length)

  function makeRecord(number: number): NetworkRecord {
    const system = recordSystems[number] as number
    const range = recordRanges[number] as number
    const flags = recordFlags[number] as number
    const record = Object.freeze({
      ...(system === 0 ? {} : { system: systems.system(system - 1) }),
      ...(range === 0 ? {} : { range: hits[range - 1] as RangeHit }),
      inVpnRanges: (flags & IN_VPN_RANGES) !== 0,
      inDatacenterRanges: (flags & IN_DATACENTER_RANGES) !== 0,
    })
    kept[number] = record
    return record
  }

  return {
    find({ family, a, b, c, d }) {
      const number = family === 4 ? records4[findSegment4(four, d)] : records6[findSegment6(six, a, b, c, d)]
      return number === 0 ? undefined : (kept[number as number] ?? makeRecord(number as number))
    },
  }
}
