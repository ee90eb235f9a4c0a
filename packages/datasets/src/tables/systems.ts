import {
  type Address,
  AS_TYPES,
  type AsType,
  type AutonomousSystem,
  coverRange,
  NETWORK_CLASSES,
  type NetworkClass,
  type SystemTable,
} from '@sallyport/core'
import { boundsOf, groupByValue } from '../compile/segments.ts'
import { BASES } from '../compile/systems.ts'
import type { Columns } from './format.ts'
import { partitionsOf, segmentsOf4, segmentsOf6 } from './partitions.ts'
import type { DecodedTables } from './read.ts'

/** The systems over the columns of a compiled file; objects are made when first asked for, and kept. */
export function openSystems({ columns, description }: DecodedTables): SystemTable {
  const asns = columns['systems.asns']
  const ends = columns['systems.nameEnds']
  const { buffer, byteOffset, byteLength } = columns['systems.names']
  const names = Buffer.from(buffer, byteOffset, byteLength)
  const kept = new Array<AutonomousSystem | undefined>(asns.length)
  let rangesBySystem: SystemRanges | undefined

  function makeSystem(index: number): AutonomousSystem {
    const start = index === 0 ? 0 : (ends[index - 1] as number)
    const country = description.countries[(columns['systems.countries'][index] as number) - 1]
    const system = Object.freeze({
      asn: asns[index] as number,
      name: names.toString('utf8', start, ends[index]),
      type: AS_TYPES[columns['systems.types'][index] as number] as AsType,
      networkClass: NETWORK_CLASSES[columns['systems.classes'][index] as number] as NetworkClass,
      brand: description.brands[columns['systems.brands'][index] as number] as string,
      basis: BASES[columns['systems.bases'][index] as number] as AutonomousSystem['basis'],
      ...(country === undefined ? {} : { country }),
    })
    kept[index] = system
    return system
  }

  return {
    size: asns.length,
    system: (index) => kept[index] ?? makeSystem(index),
    indexOf(asn) {
      let low = 0
      let high = asns.length - 1
      while (low <= high) {
        const middle = (low + high) >>> 1
        const found = asns[middle] as number
        if (found === asn) return middle
        if (found < asn) low = middle + 1
        else high = middle - 1
      }
      return -1
    },
    ipv4Prefixes: (index) => columns['systems.ipv4Prefixes'][index] as number,
    ipv6Prefixes: (index) => columns['systems.ipv6Prefixes'][index] as number,
    ipv4Addresses: (index) => columns['systems.ipv4Addresses'][index] as number,
    prefixes(index) {
      rangesBySystem ??= collectRanges(columns, asns.length)
      return rangesBySystem(index).flatMap(([first, last]) => coverRange(first, last))
    },
  }
}

/** The ranges of a system, by its index: IPv4 in address order, then IPv6. */
type SystemRanges = (index: number) => readonly (readonly [first: Address, last: Address])[]

/** One pass over both partitions, which drops the cuts that range lists made inside a system's ranges. */
function collectRanges(columns: Columns, size: number): SystemRanges {
  const { four, six } = partitionsOf(columns, 'networks')
  const systems = columns['records.systems']
  const [records4, records6] = [columns['networks4.records'], columns['networks6.records']]
  const segments4 = segmentsOf4(four, (number) => systems[records4[number] as number] as number)
  const segments6 = segmentsOf6(six, (number) => systems[records6[number] as number] as number)
  const of4 = groupByValue(segments4, size)
  const of6 = groupByValue(segments6, size)
  return (index) => [
    ...of4(index + 1).map((segment) => boundsOf(segments4, segment, 4)),
    ...of6(index + 1).map((segment) => boundsOf(segments6, segment, 6)),
  ]
}
