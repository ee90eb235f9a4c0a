/**
 * A kind of source of countries: the network's own operator (`geofeed`), a database of places (`city`), a table of the countries that
 * addresses are used in (`use`), or of those that they are registered in (`registration`).
 */
export type CountryBasis = 'geofeed' | 'city' | 'use' | 'registration'

/** The country of an address, and what says so. Shared and immutable: one object for all addresses of which it is said. */
export interface KnownCountry {
  /** Two letters, ISO 3166-1. */
  readonly code: string
  /** Id of the source, as in `SourceStatus.id`. */
  readonly source: string
  readonly basis: CountryBasis
}

/** The country of a client's address, what says so, and how sure that is. */
export interface InspectedCountry extends KnownCountry {
  /** 0 to 1: the share of addresses of such networks for which such a source was right. */
  readonly confidence: number
}
