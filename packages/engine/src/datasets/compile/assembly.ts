import { asRented, typeByRule } from '@sallyport/core'
import { partition4, partition6, prefixed } from '../format/partitions.ts'
import { hitCode, type RangeSource } from '../format/range-source.ts'
import type { Columns, Description } from '../format/tables.ts'
import { addressesBetween, type Ranges, withValues } from '../ranges/ranges.ts'
import { type Segments, valueAt4, valueAt6 } from '../ranges/segments.ts'
import { compileCrawlers } from './crawlers.ts'
import { exitRows, neighbours, type PlaceSystem, type PlaceSystems } from './density.ts'
import { directoryColumns } from './directory.ts'
import { layHits } from './hit-sets.ts'
import { compileCountries } from './known-countries.ts'
import { addressColumns } from './listed-addresses.ts'
import { measureOutlines } from './outlines.ts'
import type { Parts, RangeList } from './parts.ts'
import { compilePlaces } from './places.ts'
import { byPrecedence, createRecordRegister, hasList, haveBothLists } from './records.ts'
import { rentedSystems } from './rented-systems.ts'
import { collectEvidence } from './system-evidence.ts'
import { type SystemColumns, systemColumns } from './systems.ts'

/** The addresses of a /24 and of a /48: one customer is given no more. */
const NARROW_SIZE = { 4: 2 ** 8, 6: 2 ** 80 } as const

const NO_SYSTEM: PlaceSystem = { type: 'unknown', networkClass: 'unknown' }

/** Makes the columns and the description of a tables file from the parts. */
export function assemble(parts: Parts): { columns: Columns; description: Omit<Description, 'sources'> } {
  const { asns, names: nameList, rules, layers, filled, sizes, registered, shapeOf } = measureOutlines(parts)
  const isRented = rentedSystems(parts.lists, layers[4], sizes['systems.ipv4Addresses'])
  const placeSystem = (index: number): PlaceSystem => {
    return asRented(typeByRule(asns[index] as number, rules[index]), isRented(index))
  }
  const placed = new Array<PlaceSystem | undefined>(asns.length)
  const systemAt = (position: number): PlaceSystem => {
    if (position === 0) return NO_SYSTEM
    const known = placed[position - 1] ?? placeSystem(position - 1)
    placed[position - 1] = known
    return known
  }
  const placeSystems: PlaceSystems = {
    at4: (address) => systemAt(valueAt4(layers[4], address)),
    at6: (upper, lower) => systemAt(valueAt6(layers[6], Uint32Array.of(upper, lower, 0, 0))),
  }
  const own = [...exitRows(parts.lists, placeSystems), ...neighbours(parts.lists, placeSystems)]
  const ranked = byPrecedence([...parts.lists, ...own])
  const lists = ranked.filter(({ single }) => !single)
  const addressLists = ranked.filter(({ single }) => single)
  const hits = layHits(
    lists.map(({ ranges }, position) => ({ 4: withHits(ranges[4], position), 6: withHits(ranges[6], position) })),
  )
  const records = createRecordRegister(lists, hits.sets)
  const networks4 = records.combine(layers[4], hits.layers[4])
  const networks6 = records.combine(filled, hits.layers[6])
  const recordColumns = records.finish()
  const evidence = collectEvidence({
    segments: networks4,
    records: recordColumns,
    sets: hits.sets,
    lists,
    read: parts.lists,
    lines: parts.lines,
    systems: layers[4],
    systemLists: parts.systemLists,
    asns,
    isRented,
    shapeOf,
  })
  const types = systemColumns(asns.length, (index) => typeByRule(asns[index] as number, rules[index], evidence(index)))
  const { columns: crawlers, ...crawlerRows } = compileCrawlers(parts.crawlers)
  const { columns: placeColumns, places } = compilePlaces(parts.places)
  const { columns: countryColumns, countriesBy } = compileCountries(parts.countryLists)
  const columns = {
    ...networkColumns(networks4, networks6),
    ...addressColumns(addressLists),
    ...crawlers,
    ...placeColumns,
    ...countryColumns,
    'records.systems': recordColumns.systems,
    'records.evidence': recordColumns.evidence,
    'records.flags': recordColumns.flags,
    'systems.asns': asns,
    ...nameColumns(nameList),
    ...typeColumns(types),
    'systems.countries': registered.countries.subarray(1),
    ...sizes,
    ...directoryColumns(nameList, sizes),
  }
  return {
    columns,
    description: {
      ranges: lists.map(pickSource),
      evidence: hits.sets,
      addressLists: addressLists.map(pickSource).map(({ expires: _expires, ...source }) => source),
      ...crawlerRows,
      places,
      countriesBy,
      countries: parts.countries.list(),
      brands: types.brands,
      systemLists: types.lists,
      rangesLoaded: haveBothLists(ranked),
      proxiesLoaded: hasList(ranked, ['ranges', 'addresses'], ['residential_proxy']),
      loaded: { networks: asns.length > 0 || ranked.length > 0, systems: asns.length > 0 },
    },
  }
}

function typeColumns({ types, classes, bases, hostLike, brandNumbers, listNumbers }: SystemColumns) {
  return {
    'systems.types': types,
    'systems.classes': classes,
    'systems.bases': bases,
    'systems.hostLike': hostLike,
    'systems.brands': brandNumbers,
    'systems.lists': listNumbers,
  }
}

/** Returns the ranges of the list at `position`, each with the code of its hit as the value. */
function withHits(ranges: Ranges | undefined, position: number): Ranges | undefined {
  if (ranges === undefined) return undefined
  const { family, firsts, lasts } = ranges
  const values = new Uint32Array(ranges.count)
  for (let range = 0; range < ranges.count; range++) {
    const isNarrow = addressesBetween(family, firsts, range, lasts, range) < NARROW_SIZE[family]
    values[range] = hitCode(position, isNarrow)
  }
  return withValues(ranges, values)
}

function pickSource({ ranges: _ranges, services: _services, ...source }: RangeList): RangeSource {
  return source
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
