import type { Address } from '../address/address.ts'
import type { Prefix } from '../address/prefix.ts'
import type { KnownCountry } from '../values/country.ts'
import type { AsType, DirectoryOrder, NetworkClass } from '../vocabulary.ts'

/**
 * Origin of an autonomous system's type: a row of the operator table, a rule over its name, a list of systems,
 * what lists of ranges say of its prefixes, the outline of its address space, or nothing.
 */
export type SystemBasis = 'operator' | 'name' | 'list' | 'prefixes' | 'shape' | 'none'

/** An autonomous system as the compiled data knows it. */
export interface AutonomousSystem {
  readonly asn: number
  /** Organisation name, never empty: `AS<number>` where the data has none. */
  readonly name: string
  readonly type: AsType
  /** The network class that addresses of this system have unless something more exact is known. */
  readonly networkClass: NetworkClass
  /** The service brand sold from this network, such as a VPN's; '' when none. */
  readonly brand: string
  readonly basis: SystemBasis
  /** Id of the list, where `basis` is `list`. */
  readonly list?: string | undefined
  /** True of one that sells access by its name, and would be taken for a host if that said nothing. */
  readonly hostLike?: true | undefined
  /** Two-letter code of the registration of most of its addresses; absent when unknown. */
  readonly country?: string | undefined
}

/** A hit in a range list, or of a list of single addresses. All hits of one list and width are one object. */
export interface RangeHit {
  readonly networkClass: NetworkClass
  /** True when the list names this one address (`ip_state`), false when a prefix covers it (`range:<class>`). */
  readonly single: boolean
  /** Brand that the list belongs to; '' when it names none. */
  readonly provider: string
  /** Id of the source, as in `SourceStatus.id`. */
  readonly source: string
  /** The day the source was true, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string | undefined
  /**
   * A list that others made, what an operator publishes of its own machines, a rule over how many known exits share a
   * prefix, or the weak sign that listed proxies or exits do
   * (`NetworkRecord.near`, `exitsBeside`).
   */
  readonly rule: 'list' | 'published' | 'density' | 'neighbours'
  /** Whether the list's own prefix here is a /24, a /48 or longer; true of a single address. */
  readonly narrow: boolean
  /** How far the source is believed, 0 to 1, where its row says so. */
  readonly trust?: number | undefined
  /** The last day on which what it says holds, in days since the epoch; absent when it holds for ever. */
  readonly expires?: number | undefined
}

/** All that the compiled table knows of one segment of the address space. Shared and immutable: one object a record. */
export interface NetworkRecord {
  readonly system?: AutonomousSystem | undefined
  /** The hit that comes first by precedence. */
  readonly range?: RangeHit | undefined
  /** Further lists' hits, in order of precedence. */
  readonly also: readonly RangeHit[]
  /** Listed proxies beside the address: too weak for a class. Absent where there are none. */
  readonly near?: RangeHit | undefined
  /** Listed exits beside an address of an access network: machines are rented there. Absent where there are none. */
  readonly exitsBeside?: RangeHit | undefined
  /** Whether a public VPN or datacenter range list covers it, whatever class won; counts of the AS directory. */
  readonly inVpnRanges: boolean
  readonly inDatacenterRanges: boolean
}

/**
 * Address to record in one in-memory search. Where a list names the address itself (`ip_state`) and has not expired, its
 * hit is the record's `range`, whatever prefixes say. `undefined`: nothing is known of this address. Never throws.
 */
export interface NetworkTable {
  find(address: Address): NetworkRecord | undefined
}

/** Address to its country. Never throws. */
export interface CountryTable {
  find(address: Address): KnownCountry | undefined
}

/** Ranges that crawlers publish, by slug. Never throws. */
export interface CrawlerRanges {
  /** The crawlers that publish a range which holds the address; none is an empty list. */
  find(address: Address): readonly string[]
  /** Whether a crawler publishes any range of the family: a list says nothing of addresses of which it holds none. */
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
  /** IANA zone name. */
  readonly timezone?: string | undefined
  /** Kilometres. */
  readonly accuracyRadius?: number | undefined
  /** Id of the geofeed by which the network's own operator says so; absent: a city database. */
  readonly source?: string | undefined
}

/** Places, of which the data may be opened by the first question. */
export interface GeoReader {
  /** Families of which a city database is loaded; of others it knows what operators publish, and rejects for the rest. */
  readonly families: readonly (4 | 6)[]
  /** Rejects when the database cannot be read, or is corrupt at this address: the caller reports `degraded`. */
  read(address: Address): Promise<GeoRecord | undefined>
}

/** The autonomous systems of the database, by position. Prefixes are the minimal cover of a system's ranges. */
export interface SystemTable {
  readonly size: number
  system(index: number): AutonomousSystem
  /** -1 when the number is not in the database. */
  indexOf(asn: number): number
  ipv4Prefixes(index: number): number
  ipv6Prefixes(index: number): number
  ipv4Addresses(index: number): number
  /** IPv4 in address order, then IPv6 in address order. */
  prefixes(index: number): readonly Prefix[]
  /** The `count` largest, largest first; equal sizes by number. */
  largest(by: DirectoryOrder, count: number): readonly number[]
  /** At most `limit` systems of which the name, folded by `foldName`, holds `text`; the one of most addresses first. */
  named(text: string, limit: number): readonly number[]
}
