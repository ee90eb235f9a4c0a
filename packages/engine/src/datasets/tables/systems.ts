import {
  type Address,
  AS_TYPES,
  type AsType,
  type AutonomousSystem,
  address4,
  coverRange,
  NETWORK_CLASSES,
  type NetworkClass,
  previousAddress,
  type SystemTable,
} from '@sallyport/core'
import { pickPartitions, visitSegments } from '../format/partitions.ts'
import { BASES, type Columns, type TableColumns } from '../format/tables.ts'
import { FAMILIES } from '../ranges/ranges.ts'

const LINE_FEED = '\n'

/** Opens the systems over the columns of a compiled file; objects are made on first use, and kept. */
export function openSystems({ columns, description }: TableColumns): SystemTable {
  const asns = columns['systems.asns']
  const ends = columns['systems.nameEnds']
  const names = viewBytes(columns['systems.names'])
  const folded = viewBytes(columns['systems.folded'])
  const foldedEnds = columns['systems.foldedEnds']
  const orders = { addresses: columns['systems.byAddresses'], prefixes: columns['systems.byPrefixes'] }
  const kept = new Array<AutonomousSystem | undefined>(asns.length)

  function makeSystem(index: number): AutonomousSystem {
    const start = index === 0 ? 0 : (ends[index - 1] as number)
    const list = description.systemLists[columns['systems.lists'][index] as number]
    const country = description.countries[(columns['systems.countries'][index] as number) - 1]
    const system = Object.freeze({
      asn: asns[index] as number,
      name: names.toString('utf8', start, ends[index]),
      type: AS_TYPES[columns['systems.types'][index] as number] as AsType,
      networkClass: NETWORK_CLASSES[columns['systems.classes'][index] as number] as NetworkClass,
      brand: description.brands[columns['systems.brands'][index] as number] as string,
      basis: BASES[columns['systems.bases'][index] as number] as AutonomousSystem['basis'],
      ...(columns['systems.hostLike'][index] === 1 && { hostLike: true as const }),
      ...(list === '' || list === undefined ? {} : { list }),
      ...(country === undefined ? {} : { country }),
    })
    kept[index] = system
    return system
  }

  return {
    size: asns.length,
    system: (index) => kept[index] ?? makeSystem(index),
    indexOf: (asn) => findPosition(asns, asn),
    ipv4Prefixes: (index) => columns['systems.ipv4Prefixes'][index] as number,
    ipv6Prefixes: (index) => columns['systems.ipv6Prefixes'][index] as number,
    ipv4Addresses: (index) => columns['systems.ipv4Addresses'][index] as number,
    prefixes: (index) => listRanges(columns, index).flatMap(([first, last]) => coverRange(first, last)),
    largest: (by, count) => Array.from(orders[by].subarray(0, count)),
    named(text, limit) {
      const found: number[] = []
      // Names are separated by line feeds: a text with one would be found across two of them.
      if (text.includes(LINE_FEED)) return found
      const wanted = Buffer.from(text)
      for (let at = 0; found.length < limit; ) {
        const hit = folded.indexOf(wanted, at)
        if (hit === -1 || hit >= folded.length) break
        const rank = firstAbove(foldedEnds, hit)
        found.push(orders.addresses[rank] as number)
        at = foldedEnds[rank] as number
      }
      return found
    },
  }
}

function viewBytes({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Returns the position of a value in an ascending column; -1 when it is not there. */
function findPosition(column: Uint32Array, value: number): number {
  const position = value === 0 ? 0 : firstAbove(column, value - 1)
  return column[position] === value ? position : -1
}

/** Returns the position of the first element above a value in an ascending column. */
function firstAbove(column: Uint32Array, value: number): number {
  let low = 0
  let high = column.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((column[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Lists the ranges of a system, IPv4 in address order, then IPv6, without the cuts that range lists made inside them: one pass over both
 * partitions, a millisecond or two, which costs no memory to keep.
 */
function listRanges(columns: Columns, index: number): readonly (readonly [first: Address, last: Address])[] {
  const ranges: (readonly [Address, Address])[] = []
  const systems = columns['records.systems']
  const partitions = pickPartitions(columns, 'networks4', 'networks6')
  for (const family of FAMILIES) {
    const records = columns[`networks${family}.records`]
    let open: Address | undefined
    visitSegments(partitions, family, (a, b, c, d, number) => {
      const own = systems[records[number] as number] === index + 1
      if (own === (open !== undefined)) return
      const start: Address = family === 4 ? address4(d) : { family, a: a | 0, b: b | 0, c: c | 0, d: d | 0 }
      if (open !== undefined) ranges.push([open, previousAddress(start) as Address])
      open = own ? start : undefined
    })
    if (open !== undefined) ranges.push([open, family === 4 ? address4(-1) : { family, a: -1, b: -1, c: -1, d: -1 }])
  }
  return ranges
}
