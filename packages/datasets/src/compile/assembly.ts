import type { Ranges } from '../parse/ranges.ts'
import type { Column, Columns, Description } from '../tables/format.ts'
import { partition4, partition6 } from '../tables/partitions.ts'
import { type CountryRegister, countriesOfSystems } from './countries.ts'
import { countCover } from './cover.ts'
import { byPrecedence, createRecordRegister, haveBothLists, type RangeSource } from './records.ts'
import { boundsOf, layOut, type Segments, uniform } from './segments.ts'
import { type SystemRanges, typeSystems } from './systems.ts'

/** One value for each family, where there is one. */
export type PerFamily<T> = { 4?: T; 6?: T }

/** A range list that was read, of both families. */
export interface ReadList extends RangeSource {
  readonly ranges: PerFamily<Ranges>
}

/** What was read from the sources and could be used; a refused source is not in here. */
export interface Parts {
  readonly systems: PerFamily<SystemRanges>
  readonly registrations: PerFamily<Ranges>
  readonly lists: readonly ReadList[]
  readonly cities: PerFamily<Segments>
  readonly countries: CountryRegister
}

const FAMILIES = [4, 6] as const

/** Puts the parts together to the columns of a tables file and what it says of them. */
export function assemble(parts: Parts): { columns: Columns; description: Omit<Description, 'sources'> } {
  const names = new Map([...(parts.systems[6]?.names ?? []), ...(parts.systems[4]?.names ?? [])])
  const asns = Uint32Array.from(names.keys()).sort()
  const lists = byPrecedence(parts.lists)
  const layers = systemLayers(parts.systems, asns)
  const records = createRecordRegister(lists)
  const networks = FAMILIES.map((family) => {
    const over = lists.flatMap(({ ranges }, position) => {
      const read = ranges[family]
      return read === undefined ? [] : [{ position, segments: layOut(read, family) }]
    })
    return records.combine(layers[family], over)
  })
  const recordColumns = records.finish()
  const types = typeSystems(asns, names)
  const columns = {
    ...networkColumns(networks[0] as Segments, networks[1] as Segments),
    ...countryColumns(parts.cities[4] ?? uniform(0), parts.cities[6] ?? uniform(0)),
    'records.systems': recordColumns.systems,
    'records.ranges': recordColumns.ranges,
    'records.flags': recordColumns.flags,
    'systems.asns': asns,
    ...nameColumns(Array.from(asns, (asn) => names.get(asn) as string)),
    'systems.types': types.types,
    'systems.classes': types.classes,
    'systems.bases': types.bases,
    'systems.brands': types.brandNumbers,
    'systems.countries': registrationCountries(parts.registrations, layers, asns.length),
    ...sizeColumns(layers, asns.length),
  }
  return {
    columns,
    description: {
      ranges: lists.map(({ networkClass, single, provider, source }) => ({ networkClass, single, provider, source })),
      countries: parts.countries.list(),
      brands: types.brands,
      rangesLoaded: haveBothLists(lists),
      loaded: {
        networks: asns.length > 0 || lists.length > 0,
        systems: asns.length > 0,
        countries: parts.cities[4] !== undefined || parts.cities[6] !== undefined,
      },
    },
  }
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

function registrationCountries(registrations: PerFamily<Ranges>, layers: Layers, size: number): Uint8Array {
  const known = FAMILIES.flatMap((family) => {
    const ranges = registrations[family]
    return ranges === undefined ? [] : [{ systems: layers[family], countries: layOut(ranges, family) }]
  })
  return countriesOfSystems(known, size).subarray(1)
}

type Part<Prefix extends string> = Pick<Columns, Extract<keyof Columns, `${Prefix}${string}`>>

function networkColumns(segments4: Segments, segments6: Segments): Part<'networks'> {
  const four = partition4(segments4)
  const six = partition6(segments6)
  return {
    ...(prefixed('networks4', four.partition) as Part<'networks4'>),
    'networks4.records': four.values,
    ...(prefixed('networks6', six.partition) as Part<'networks6'>),
    'networks6.records': six.values,
  }
}

function countryColumns(segments4: Segments, segments6: Segments): Part<'countries'> {
  const four = partition4(segments4)
  const six = partition6(segments6)
  return {
    ...(prefixed('countries4', four.partition) as Part<'countries4'>),
    'countries4.codes': Uint8Array.from(four.values),
    ...(prefixed('countries6', six.partition) as Part<'countries6'>),
    'countries6.codes': Uint8Array.from(six.values),
  }
}

function prefixed(table: string, columns: object): Readonly<Record<string, Column>> {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [`${table}.${name}`, column as Column]))
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
