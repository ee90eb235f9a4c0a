/**
 * Names a kind of source of countries: the network's own operator (`geofeed`), a database of places (`city`), a table of the countries that
 * addresses are used in (`use`), or of those that they are registered in (`registration`).
 */
export type CountryBasis = 'geofeed' | 'city' | 'use' | 'registration'

/** Names the country of an address, and its source. Shared and immutable: one object for all addresses with the same country and source. */
export interface KnownCountry {
  /** Two letters name the country (ISO 3166-1). */
  readonly code: string
  /** The source has this id, as in `SourceStatus.id`. */
  readonly source: string
  readonly basis: CountryBasis
}

/** Adds to the country of a client's address the date of its source and a confidence. */
export interface InspectedCountry extends KnownCountry {
  /** The source was last known to be true on this day; absent when nothing says so. */
  readonly date?: string | undefined
  /** 0 to 1: the share of addresses of such networks for which such a source was right, less the share that its age takes. */
  readonly confidence: number
}

/** Holds a known country as it counts for the addresses of access networks, and for others. */
export type WeighedCountry = Readonly<Record<'access' | 'other', InspectedCountry>>
