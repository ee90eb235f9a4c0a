import type { Address } from '../address/address.ts'
import type { GeoRecord, Snapshot } from '../ports/index.ts'
import { countryName } from './country.ts'

/** A GeoRecord with the country's name: the members of the specification's GeolocationResponse but `ip`. */
export interface Geo extends Omit<GeoRecord, 'source'> {
  readonly country?: string | undefined
}

/** `degraded`: the geolocation could not run, so an empty `geo` does not mean that the place is unknown. */
export interface Located {
  readonly geo: Geo
  readonly degraded: boolean
  /** Id of the geofeed that names the place; absent: a city database does, or nothing. */
  readonly source?: string | undefined
}

const NOWHERE: Geo = Object.freeze({})

/** Geolocation of a public address. A reader that is not there, or rejects, is degraded; this never does. */
export async function locate(address: Address, snapshot: Snapshot): Promise<Located> {
  if (snapshot.geo === undefined) return { geo: NOWHERE, degraded: true }
  let record: GeoRecord | undefined
  try {
    record = await snapshot.geo.read(address)
  } catch {
    return { geo: NOWHERE, degraded: true }
  }
  if (record === undefined) return { geo: NOWHERE, degraded: false }
  const { source, ...place } = record
  const country = place.countryCode === undefined ? undefined : countryName(place.countryCode)
  return {
    geo: country === undefined ? place : { country, ...place },
    degraded: false,
    ...(source === undefined ? {} : { source }),
  }
}
