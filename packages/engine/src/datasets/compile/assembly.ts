import { asRented, compareHits, typeByRule } from '@sallyport/core'
import { packTexts } from '../columns/encode.ts'
import { partition4, partition6, prefixed, valueColumns } from '../format/partitions.ts'
import { hitCode, type RangeSource } from '../format/range-source.ts'
import type { Description } from '../format/tables.ts'
import { mapValues, measureRange, type Ranges } from '../ranges/ranges.ts'
import { valueAt } from '../ranges/segments.ts'
import { compileCrawlers } from './crawlers.ts'
import { exitRows, neighbours, type PlaceSystem, type PlaceSystems } from './density.ts'
import { layHits } from './hit-sets.ts'
import { compileCountries } from './known-countries.ts'
import { addressColumns } from './listed-addresses.ts'
import { measureOutlines } from './outlines.ts'
import type { Parts, RangeList } from './parts.ts'
import { compilePlaces } from './places.ts'
import { haveBothLists, haveProxies, layRecords } from './records.ts'
import { rentedSystems } from './rented-systems.ts'
import { collectEvidence } from './system-evidence.ts'
import { directoryColumns, systemColumns } from './systems.ts'

/** The addresses of a /24 and of a /48: one customer is given no more. */
const NARROW_SIZE = { 4: 2 ** 8, 6: 2 ** 80 } as const

const NO_SYSTEM: PlaceSystem = { type: 'unknown', networkClass: 'unknown' }

/** Makes the columns and the description of a tables file from the parts. */
export function assemble(parts: Parts) {
  const outlines = measureOutlines(parts)
  const { asns, names, rules, layers, filled, sizes, registered } = outlines
  const isRented = rentedSystems(parts.lists, layers[4], sizes.ipv4Addresses)
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
    at4: (address) => systemAt(valueAt(layers[4], Uint32Array.of(address))),
    at6: (upper, lower) => systemAt(valueAt(layers[6], Uint32Array.of(upper, lower, 0, 0))),
  }
  const own = [...exitRows(parts.lists, placeSystems), ...neighbours(parts.lists, placeSystems)]
  // In order of precedence; equal lists keep their order.
  const ranked = [...parts.lists, ...own].toSorted(compareHits)
  const lists = ranked.filter(({ single }) => !single)
  const addressLists = ranked.filter(({ single }) => single)
  const hits = layHits(
    lists.map(({ ranges }, position) => ({ 4: withHits(ranges[4], position), 6: withHits(ranges[6], position) })),
  )
  const { columns: records, ...networks } = layRecords({ 4: layers[4], 6: filled }, hits, lists)
  const evidence = collectEvidence(parts, outlines, {
    segments: networks[4],
    records,
    sets: hits.sets,
    lists,
    isRented,
  })
  const types = systemColumns(asns.length, (index) => typeByRule(asns[index] as number, rules[index], evidence(index)))
  const { columns: crawlers, ...crawlerRows } = compileCrawlers(parts.crawlers)
  const { columns: placeColumns, places } = compilePlaces(parts.places)
  const { columns: countryColumns, countriesBy } = compileCountries(parts.countryLists)
  const { bytes, ends: nameEnds } = packTexts(names)
  const systems = {
    ...{ asns, names: bytes, nameEnds, countries: registered.countries.subarray(1) },
    ...types.columns,
    ...sizes,
    ...directoryColumns(names, sizes),
  }
  const columns = {
    ...valueColumns('networks4', 'records', partition4(networks[4])),
    ...valueColumns('networks6', 'records', partition6(networks[6])),
    ...prefixed('records', records),
    ...addressColumns(addressLists),
    ...crawlers,
    ...placeColumns,
    ...countryColumns,
    ...prefixed('systems', systems),
  }
  const description: Omit<Description, 'sources'> = {
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
    proxiesLoaded: haveProxies(ranked),
    loaded: { networks: asns.length > 0 || ranked.length > 0, systems: asns.length > 0 },
  }
  return { columns, description }
}

/** Returns the ranges of the list at `position`, each with the code of its hit as the value. */
function withHits(ranges: Ranges | undefined, position: number): Ranges | undefined {
  if (ranges === undefined) return undefined
  return mapValues(ranges, (_, range) => hitCode(position, measureRange(ranges, range) <= NARROW_SIZE[ranges.family]))
}

function pickSource({ ranges: _ranges, services: _services, ...source }: RangeList): RangeSource {
  return source
}
