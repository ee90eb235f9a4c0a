import type { AsType } from '@sallyport/core'
import type { Ranges } from '../parse/ranges.ts'
import type { SystemList } from '../parse/system-list.ts'
import type { Columns, Description } from '../tables/format.ts'
import { partition4, partition6, prefixed } from '../tables/partitions.ts'
import { type AddressList, addressColumns } from './addresses.ts'
import { type CountryRegister, countriesOfSystems, countryCounts } from './countries.ts'
import { countCover } from './cover.ts'
import { type CrawlerList, compileCrawlers } from './crawlers.ts'
import { denseExits } from './density.ts'
import { directoryColumns } from './directory.ts'
import {
  byPrecedence,
  createRecordRegister,
  hasList,
  haveBothLists,
  NARROW,
  type RangeSource,
  WIDE,
} from './records.ts'
import { addressesBetween, boundsOf, layOut, type Segments, uniform, valueAt4 } from './segments.ts'
import { evidenceOf } from './system-evidence.ts'
import { type SystemRanges, systemColumns, typeSystems } from './systems.ts'

/** One value for each family, where there is one. */
export type PerFamily<T> = { 4?: T; 6?: T }

/** A range list that was read, of both families. */
export interface ReadList extends RangeSource, AddressList {
  readonly ranges: PerFamily<Ranges>
}

/** A list of autonomous systems that was read; what it says of each, by number. */
export interface ReadSystemList {
  readonly source: string
  /** Absent where the list asserts no type. */
  readonly asType?: AsType
  readonly systemList: SystemList
}

/** What was read from the sources and could be used; a refused source is not in here. */
export interface Parts {
  readonly systems: PerFamily<SystemRanges>
  readonly registrations: PerFamily<Ranges>
  readonly lists: readonly ReadList[]
  readonly systemLists: readonly ReadSystemList[]
  readonly crawlers: readonly CrawlerList[]
  readonly countries: CountryRegister
}

const FAMILIES = [4, 6] as const

/** Addresses of a /24 and of a /48: what one customer is given. */
const NARROW_SIZE = { 4: 2 ** 8, 6: 2 ** 80 } as const

/** Puts the parts together to the columns of a tables file and what it says of them. */
export function assemble(parts: Parts): { columns: Columns; description: Omit<Description, 'sources'> } {
  const names = new Map([...(parts.systems[6]?.names ?? []), ...(parts.systems[4]?.names ?? [])])
  const asns = Uint32Array.from(names.keys()).sort()
  const nameList = Array.from(asns, (asn) => names.get(asn) as string)
  const layers = systemLayers(parts.systems, asns)
  const named = typeSystems(asns, names)
  const classAt = (address: number) => named[valueAt4(layers[4], address) - 1]?.networkClass ?? 'unknown'
  const dense = denseExits(parts.lists, classAt)
  const ranked = byPrecedence([...parts.lists, ...(dense === undefined ? [] : [dense])])
  const lists = ranked.filter(({ single }) => !single)
  const addressLists = ranked.filter(({ single }) => single)
  const records = createRecordRegister(lists)
  const networks = FAMILIES.map((family) => {
    const over = lists.flatMap(({ ranges }, position) => {
      const read = ranges[family]
      return read === undefined ? [] : [{ position, segments: layOut(withWidths(read, family), family) }]
    })
    return records.combine(layers[family], over)
  })
  const recordColumns = records.finish()
  const sizes = sizeColumns(layers, asns.length)
  const registered = registrationCountries(parts.registrations, layers, asns.length)
  const evidence = evidenceOf({
    segments: networks[0] as Segments,
    records: recordColumns,
    lists,
    read: parts.lists,
    systems: layers[4],
    systemLists: parts.systemLists,
    asns,
    outlines: Array.from(asns, (_, index) => ({
      ipv4Prefixes: sizes['systems.ipv4Prefixes'][index] as number,
      ipv6Prefixes: sizes['systems.ipv6Prefixes'][index] as number,
      countries: registered.counts[index + 1] as number,
    })),
  })
  const types = systemColumns(typeSystems(asns, names, evidence))
  const { columns: crawlers, ...crawlerRows } = compileCrawlers(parts.crawlers)
  const columns = {
    ...networkColumns(networks[0] as Segments, networks[1] as Segments),
    ...addressColumns(addressLists),
    ...crawlers,
    'records.systems': recordColumns.systems,
    'records.evidence': recordColumns.evidence,
    'records.flags': recordColumns.flags,
    'systems.asns': asns,
    ...nameColumns(nameList),
    'systems.types': types.types,
    'systems.classes': types.classes,
    'systems.bases': types.bases,
    'systems.brands': types.brandNumbers,
    'systems.lists': types.listNumbers,
    'systems.countries': registered.countries,
    ...sizes,
    ...directoryColumns(nameList, sizes),
  }
  return {
    columns,
    description: {
      ranges: lists.map(sourceOf),
      evidence: recordColumns.sets,
      addressLists: addressLists.map(sourceOf),
      ...crawlerRows,
      countries: parts.countries.list(),
      brands: types.brands,
      systemLists: types.lists,
      rangesLoaded: haveBothLists(ranked),
      proxiesLoaded: hasList(ranked, ['ranges', 'addresses'], ['residential_proxy']),
      loaded: { networks: asns.length > 0 || ranked.length > 0, systems: asns.length > 0 },
    },
  }
}

/** The ranges of a list with their width as the value. */
function withWidths(ranges: Ranges, family: 4 | 6): Ranges {
  const { firsts, lasts, count } = ranges
  const values = Uint32Array.from({ length: count }, (_, range) =>
    addressesBetween(firsts, range, lasts, range) < NARROW_SIZE[family] ? NARROW : WIDE,
  )
  return { ...ranges, values }
}

function sourceOf({ ranges: _ranges, expires: _expires, ...source }: ReadList): RangeSource {
  return source
}

type Layers = Readonly<Record<4 | 6, Segments>>

/** The systems of both families as segments, of which the values are positions in order of ASN, from 1. */
function systemLayers(systems: PerFamily<SystemRanges>, asns: Uint32Array): Layers {
  const positions = new Map(Array.from(asns, (asn, position) => [asn, position + 1]))
  const layer = (family: 4 | 6) => {
    const ranges = systems[family]?.ranges
    if (ranges === undefined) return uniform(0)
    return layOut({ ...ranges, values: ranges.values.map((asn) => positions.get(asn) as number) }, family)
  }
  return { 4: layer(4), 6: layer(6) }
}

/** Of each system the country of most of its addresses, and in how many its IPv4 addresses are. */
function registrationCountries(registrations: PerFamily<Ranges>, layers: Layers, size: number) {
  const known = FAMILIES.flatMap((family) => {
    const ranges = registrations[family]
    return ranges === undefined ? [] : [{ family, systems: layers[family], countries: layOut(ranges, family) }]
  })
  const ofIpv4 = known.find(({ family }) => family === 4)
  return {
    countries: countriesOfSystems(known, size).subarray(1),
    counts: ofIpv4 === undefined ? new Uint16Array(size + 1) : countryCounts(ofIpv4, size),
  }
}

type NetworkColumns = Pick<Columns, Extract<keyof Columns, `networks${string}`>>

function networkColumns(segments4: Segments, segments6: Segments): NetworkColumns {
  const four = partition4(segments4)
  const six = partition6(segments6)
  return {
    ...prefixed('networks4', four.partition),
    'networks4.records': four.values,
    ...prefixed('networks6', six.partition),
    'networks6.records': six.values,
  }
}

function nameColumns(names: readonly string[]): Pick<Columns, 'systems.names' | 'systems.nameEnds'> {
  const bytes = Buffer.from(names.join(''))
  let end = 0
  return {
    'systems.names': bytes,
    'systems.nameEnds': Uint32Array.from(names, (name) => (end += Buffer.byteLength(name))),
  }
}

/** Prefixes of the minimal cover of each system's ranges, and its IPv4 addresses. */
function sizeColumns(
  layers: Layers,
  size: number,
): Pick<Columns, 'systems.ipv4Prefixes' | 'systems.ipv6Prefixes' | 'systems.ipv4Addresses'> {
  const addresses = new Float64Array(size)
  const prefixes = { 4: new Uint32Array(size), 6: new Uint32Array(size) }
  for (const family of FAMILIES) {
    const { values, count } = layers[family]
    for (let segment = 0; segment < count; segment++) {
      const index = (values[segment] as number) - 1
      if (index === -1) continue
      const [first, last] = boundsOf(layers[family], segment, family)
      const counts = prefixes[family]
      counts[index] = (counts[index] as number) + countCover(first, last)
      if (family === 4) addresses[index] = (addresses[index] as number) + (last.d >>> 0) - (first.d >>> 0) + 1
    }
  }
  return {
    'systems.ipv4Prefixes': prefixes[4],
    'systems.ipv6Prefixes': prefixes[6],
    'systems.ipv4Addresses': addresses,
  }
}
