import type { Address } from '../address/address.ts'
import type { Prefix } from '../address/prefix.ts'
import type { KnownCountry } from '../values/country.ts'
import type { NamedRegion } from '../values/region.ts'
import type { AsType, DirectoryOrder, NetworkClass } from '../vocabulary.ts'

/**
 * Says how the type of an autonomous system is known: by a row of the operator table, a rule over its name, a list of systems, what lists
 * of ranges say of its prefixes, the outline of its address space, or not at all.
 */
export type SystemBasis = 'operator' | 'name' | 'list' | 'prefixes' | 'shape' | 'none'

/** Describes an autonomous system as the compiled data knows it. */
export interface AutonomousSystem {
  readonly asn: number
  /** Organisation name, never empty: `AS<number>` where the data has none. */
  readonly name: string
  readonly type: AsType
  /** Addresses of this system have this network class unless something more exact is known. */
  readonly networkClass: NetworkClass
  /** The service brand that is sold from this network, such as a VPN's; '' where there is none. */
  readonly brand: string
  readonly basis: SystemBasis
  /** The list has this id, where `basis` is `list`. */
  readonly list?: string | undefined
  /** True where the name sells access, and the system would otherwise be classified as a host. */
  readonly hostLike?: true | undefined
  /** Most of its addresses are registered in this country, by its two-letter code; absent when unknown. */
  readonly country?: string | undefined
}

/** A range list, or a list of single addresses, has this entry. All hits of one list and width are one object. */
export interface RangeHit {
  readonly networkClass: NetworkClass
  /** True when the list names this one address (`ip_state`), false when a prefix covers it (`range:<class>`). */
  readonly single: boolean
  /** The list belongs to this brand; '' where it names none. */
  readonly provider: string
  /** The source has this id, as in `SourceStatus.id`. */
  readonly source: string
  /** The source was true on this day, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string | undefined
  /**
   * Says who made the list: others, an operator about its own machines, a rule over how many known exits share a prefix, or the weak sign
   * of listed proxies or exits nearby (`NetworkRecord.near`, `exitsBeside`).
   */
  readonly rule: 'list' | 'published' | 'density' | 'neighbours'
  /** True where the list's own prefix here is a /24, a /48 or longer; true of a single address. */
  readonly narrow: boolean
  /** Rates the trust in the source, 0 to 1, where its row says so. */
  readonly trust?: number | undefined
  /** The entry holds until this day, in days since the epoch; absent when it never expires. */
  readonly expires?: number | undefined
}

/** Holds all that the compiled table knows of one segment of the address space. Shared and immutable: one object per record. */
export interface NetworkRecord {
  readonly system?: AutonomousSystem | undefined
  /** The hit that comes first by precedence. */
  readonly range?: RangeHit | undefined
  /** Lists hits of further lists, in order of precedence. */
  readonly also: readonly RangeHit[]
  /** Listed proxies beside the address are too weak for a class. Absent where there are none. */
  readonly near?: RangeHit | undefined
  /** Listed exits beside an address of an access network show that machines are rented there. Absent where there are none. */
  readonly exitsBeside?: RangeHit | undefined
  /** True where a public VPN or datacenter range list covers it, whatever class won; the AS directory counts these. */
  readonly inVpnRanges: boolean
  readonly inDatacenterRanges: boolean
}

/**
 * Finds the record of an address in one in-memory search. Where a list names the address itself (`ip_state`) and has not expired, its hit
 * is the record's `range`, whatever prefixes say. Returns `undefined` where nothing is known of this address. Never throws.
 */
export interface NetworkTable {
  find(address: Address): NetworkRecord | undefined
}

/** Finds the country of an address. Never throws. */
export interface CountryTable {
  find(address: Address): KnownCountry | undefined
}

/** Finds the region of an address, as the data names it. Never throws. */
export interface RegionTable {
  find(address: Address): NamedRegion | undefined
}

/** Finds the ranges that crawlers publish, by slug. Never throws. */
export interface CrawlerRanges {
  /** Reports whether a crawler publishes a range that holds the address. */
  holds(slug: string, address: Address): boolean
  /** Reports whether a crawler publishes any range of the family: a list says nothing about a family of which it holds no address. */
  covers(slug: string, family: Address['family']): boolean
}

/** A city database's answer for an address; a member is absent when unknown, never empty. */
export interface GeoRecord {
  readonly countryCode?: string | undefined
  readonly city?: string | undefined
  readonly region?: string | undefined
  readonly postalCode?: string | undefined
  readonly latitude?: number | undefined
  readonly longitude?: number | undefined
  /** The zone has its IANA name. */
  readonly timezone?: string | undefined
  /** The radius is in kilometres. */
  readonly accuracyRadius?: number | undefined
  /** The network's own operator says so by the geofeed of this id; absent where a city database does. */
  readonly source?: string | undefined
}

/** Reads places; the first question may open the data. */
export interface GeoReader {
  /** Lists the families of which a city database is loaded; for others it knows what operators publish, and rejects for the rest. */
  readonly families: readonly (4 | 6)[]
  /** Rejects when the database cannot be read, or is corrupt at this address: the caller reports `degraded`. */
  read(address: Address): Promise<GeoRecord | undefined>
}

/** Holds the autonomous systems of the database, by position. Prefixes are the minimal cover of a system's ranges. */
export interface SystemTable {
  readonly size: number
  system(index: number): AutonomousSystem
  /** Returns -1 when the number is not in the database. */
  indexOf(asn: number): number
  ipv4Prefixes(index: number): number
  ipv6Prefixes(index: number): number
  ipv4Addresses(index: number): number
  /** Lists IPv4 in address order, then IPv6 in address order. */
  prefixes(index: number): readonly Prefix[]
  /** Returns the `count` largest, largest first; equal sizes by number. */
  largest(by: DirectoryOrder, count: number): readonly number[]
  /** Returns at most `limit` systems whose name, folded by `foldName`, contains `text`; the one with most addresses first. */
  named(text: string, limit: number): readonly number[]
}
