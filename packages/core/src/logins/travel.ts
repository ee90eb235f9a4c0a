import type { Located } from '../geo/locate.ts'
import type { Inspection } from '../values/inspection.ts'

/** A login from an access network has this place. */
export interface LoginPlace {
  /** The login was at this time, in milliseconds since the epoch. */
  readonly at: number
  readonly latitude: number
  readonly longitude: number
  /** The accuracy is in kilometres. */
  readonly accuracy: number
  readonly country: string
  readonly city?: string | undefined
  /** The network has the name and number of the system. */
  readonly network: string
  /** Rates how likely the country is right, 0 to 1. */
  readonly confidence: number
  /** The network's own operator publishes the place. */
  readonly isPublished: boolean
  /** The network has gateways of SIM cards, which their holders reach from any country. */
  readonly mayRoam?: true | undefined
}

/** No flight explains two such logins. */
export interface Travel {
  readonly from: LoginPlace
  readonly to: LoginPlace
  readonly kilometres: number
  readonly minutes: number
  readonly confidence: number
}

/** A country of lower confidence may be another one. */
const LEAST_CONFIDENCE = 0.7
/** A line has this verdict where its system has SIM cards too. No line has more than 0.6, unless lists of proxies are loaded. */
const LINE_IN_DOUBT = 0.5
/** Gives the common error of a database of cities in kilometres, where it does not say. */
const COMMON_ERROR = 150
/** A nearer place may be the network's next hub. */
const LEAST_KILOMETRES = 500
/** No airliner is as fast from door to door. */
const KILOMETRES_AN_HOUR = 1_000

type Line = Pick<Inspection, 'network' | 'countryFrom'>

/**
 * Reports whether a login has a place: only a line of a home or an office is where its address says. Gateways of carriers, relays, VPNs,
 * proxies and clouds are elsewhere, as is a network whose country two sources disagree about.
 */
export function isPlaced({ network, countryFrom: country }: Line): boolean {
  const { verdict, asType, machineSigns = 0, near } = network
  if (verdict.classification !== 'residential_clean' || verdict.anonymized || asType !== 'isp') return false
  if (machineSigns > 0 || near !== undefined || country?.code !== network.asCountry) return false
  return verdict.confidence >= LINE_IN_DOUBT && (country?.confidence ?? 0) >= LEAST_CONFIDENCE
}

/** Returns the place of a login; `undefined` where `isPlaced` is false, or where a database of places has another country. */
export function placeLogin(
  at: number,
  line: Line,
  { geo, source }: Pick<Located, 'geo' | 'source'>,
): LoginPlace | undefined {
  const { network, countryFrom: country } = line
  const { verdict, asn, asName = '' } = network
  const { latitude, longitude, countryCode, city, accuracyRadius = COMMON_ERROR } = geo
  if (!isPlaced(line) || latitude === undefined || longitude === undefined) return undefined
  if (asn === undefined || country === undefined || country.code !== countryCode) return undefined
  return {
    at,
    latitude,
    longitude,
    accuracy: accuracyRadius,
    country: country.code,
    ...(city !== undefined && { city }),
    network: `AS${asn} ${asName}`.trim(),
    confidence: country.confidence,
    isPublished: source !== undefined,
    ...(verdict.confidence === LINE_IN_DOUBT && { mayRoam: true as const }),
  }
}

/**
 * Finds travel that no flight explains. Within one country a database of cities is too often wrong, so only places that both operators
 * publish are compared. A visitor who may roam has left no place. A clock that went back shows nothing.
 */
export function findTravel(from: LoginPlace | undefined, to: LoginPlace | undefined): Travel | undefined {
  if (from === undefined || to === undefined || from.mayRoam || from.network === to.network) return undefined
  if (from.country === to.country && !(from.isPublished && to.isPublished)) return undefined
  const hours = (to.at - from.at) / 3_600_000
  if (hours < 0) return undefined
  const kilometres = Math.round(distance(from, to) - from.accuracy - to.accuracy)
  if (kilometres < LEAST_KILOMETRES || kilometres <= hours * KILOMETRES_AN_HOUR) return undefined
  const confidence = Math.round(from.confidence * to.confidence * 100) / 100
  return { from, to, kilometres, minutes: Math.round(hours * 60), confidence }
}

const EARTH_RADIUS = 6_371

/** Computes the kilometres of a great circle by the haversine formula. */
function distance(one: LoginPlace, other: LoginPlace): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const latitude = radians(other.latitude - one.latitude)
  const longitude = radians(other.longitude - one.longitude)
  const a =
    Math.sin(latitude / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin(longitude / 2) ** 2
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(a)))
}
