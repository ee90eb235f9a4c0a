/**
 * Says why the region of an address is not known: the address is reserved, its network hides where its clients are (`hidden`), is a
 * carrier's gateway (`carrier`), a satellite's (`satellite`) or a server's, also one of anycast (`server`); the data names a region that no
 * data can tell (`disputed`), one where it puts lines of other regions too (`unsure`), or none (`no_data`).
 */
export type RegionDoubt = 'reserved' | 'hidden' | 'carrier' | 'satellite' | 'server' | 'disputed' | 'unsure' | 'no_data'

/** Names a region as a source does. */
export interface NamedRegion {
  /** ISO 3166-2 has this code: `US-TX`. */
  readonly code: string
  /** The source has this id, as in `SourceStatus.id`. */
  readonly source: string
  /** Says whether the network's own operator or a database of places names it. */
  readonly basis: 'geofeed' | 'city'
  /** The source gives this place to lines of other regions as well. */
  readonly isVague?: true | undefined
}

/** Names the region of a client's address, or says why it is not known. */
export type InspectedRegion =
  | (NamedRegion & {
      /** 0 to 1: the share of addresses for which such a source was right. */
      readonly confidence: number
      readonly doubt?: undefined
    })
  | { readonly code?: undefined; readonly doubt: RegionDoubt }

/** Lists the effects that a rule with `match.region` may have where the region is not known: it matches, or it does not. */
export const UNKNOWN_REGIONS = ['match', 'ignore'] as const
export type UnknownRegion = (typeof UNKNOWN_REGIONS)[number]
