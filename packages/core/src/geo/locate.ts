import type { Address } from '../address/address.ts'
import type { GeoRecord, Snapshot } from '../ports/index.ts'
import { countryName } from './country.ts'

/** A GeoRecord with the country's name: the members of the specification's GeolocationResponse but `ip`. */
export interface Geo extends Omit<GeoRecord, 'source'> {
  readonly country?: string | undefined
}

/** `degraded`: places could not be looked up, so that `geo` has the country alone, where a table of countries knows it. */
export interface Located {
  readonly geo: Geo
  readonly degraded: boolean
  /** Id of the source that names the country, unless a city database does; absent where it is not known. */
  readonly source?: string | undefined
}

/** Geolocation of a public address. A reader that is not there, or rejects, is degraded; this never does. */
export async function locate(address: Address, snapshot: Snapshot): Promise<Located> {
  let record: GeoRecord | undefined
  let degraded = snapshot.geo === undefined
  try {
    record = await snapshot.geo?.read(address)
  } catch {
    degraded = true
  }
  const { source, ...place } = record ?? {}
  if (place.countryCode !== undefined) return { geo: named(place), degraded, ...(source !== undefined && { source }) }
  const known = snapshot.countries?.find(address)
  if (known === undefined) return { geo: place, degraded }
  const isOfCities = known.basis === 'city'
  return { geo: named({ ...place, countryCode: known.code }), degraded, ...(!isOfCities && { source: known.source }) }
}

/** A place with the name of its country. */
function named(place: Geo): Geo {
  const country = place.countryCode === undefined ? undefined : countryName(place.countryCode)
  return country === undefined ? place : { country, ...place }
}
