import { PUBLIC_SERVICES } from '@sallyport/data/public-services'
import { type Address, parseAddress } from '../address/address.ts'
import { makePrefix, prefixContains } from '../address/prefix.ts'
import { isAnycast } from '../asn/types.ts'
import type { GeoRecord, Snapshot } from '../ports/index.ts'
import { countryName } from './country.ts'

/** Adds the country's name to a GeoRecord: the members of the specification's GeolocationResponse but `ip`. */
export interface Geo extends Omit<GeoRecord, 'source'> {
  readonly country?: string | undefined
}

/** `degraded`: places could not be looked up, so `geo` has only the country, where a table of countries knows it. */
export interface Located {
  readonly geo: Geo
  readonly degraded: boolean
  /** The source that names the country, by its id, unless it is a city database; absent where it is not known. */
  readonly source?: string | undefined
}

/** Locates a public address. A reader that is missing or rejects makes the result degraded. Never rejects. */
export async function locate(address: Address, snapshot: Snapshot): Promise<Located> {
  const located = await findPlace(address, snapshot)
  return { ...located, geo: toGeo(located.geo) }
}

/** Locates an address without the name of its country, which takes longer than all other work. */
export async function findPlace(address: Address, snapshot: Snapshot): Promise<Located> {
  let record: GeoRecord | undefined
  let degraded = snapshot.geo === undefined
  try {
    record = await snapshot.geo?.read(address)
  } catch {
    degraded = true
  }
  const { source, ...said } = record ?? {}
  const isNowhere = source === undefined && isEverywhere(address, snapshot)
  const place: Geo = isNowhere ? (said.countryCode === undefined ? {} : { countryCode: said.countryCode }) : said
  if (place.countryCode !== undefined) return { geo: place, degraded, ...(source !== undefined && { source }) }
  const known = snapshot.countries?.find(address)
  if (known === undefined) return { geo: place, degraded }
  const isOfCities = known.basis === 'city'
  return { geo: { ...place, countryCode: known.code }, degraded, ...(!isOfCities && { source: known.source }) }
}

/** No shorter prefixes are routed, so an operator that announces one from many places has it alone. */
const ROUTED = { 4: 24, 6: 48 } as const

/** Reports whether an address is at many places at once, so that a city database's place means nothing. */
function isEverywhere(address: Address, { networks }: Snapshot): boolean {
  const asn = networks?.find(address)?.system?.asn
  return (asn !== undefined && isAnycast(asn)) || PUBLIC_BLOCKS.some((block) => prefixContains(block, address))
}

const PUBLIC_BLOCKS = PUBLIC_SERVICES.flatMap((text) => {
  const address = parseAddress(text)
  return address === undefined ? [] : [makePrefix(address, ROUTED[address.family])]
})

function toGeo(place: Geo): Geo {
  const country = place.countryCode === undefined ? undefined : countryName(place.countryCode)
  return country === undefined ? place : { country, ...place }
}
