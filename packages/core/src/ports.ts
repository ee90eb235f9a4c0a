import type { Address } from './address/address.ts'
import type { Prefix } from './address/prefix.ts'
import type { AsType, NetworkClass } from './vocabulary.ts'

/** Milliseconds since the epoch; never goes back within a process. */
export interface Clock {
  now(): number
}

/** "Ran and found nothing" and "could not run" are different results: only `absent` says that the name has no address. */
export type NameAnswer =
  | { readonly state: 'found'; readonly addresses: readonly Address[] }
  | { readonly state: 'absent' }
  | { readonly state: 'failed'; readonly reason: string }

/** Names to addresses, by DNS alone: never a hosts file, a search domain or a numeric form. Never rejects. */
export interface Dns {
  resolve(name: string): Promise<NameAnswer>
}

/** An autonomous system as the compiled data knows it. */
export interface AutonomousSystem {
  readonly asn: number
  /** Organisation name, never empty: `AS<number>` where the data has none. */
  readonly name: string
  readonly type: AsType
  /** The network class that addresses of this system have unless something more exact speaks. */
  readonly networkClass: NetworkClass
  /** The service brand sold from this network, such as a VPN's; '' when none. */
  readonly brand: string
  /** What `type` rests on: a row of the operator table, a rule over the name, or nothing. */
  readonly basis: 'operator' | 'name' | 'none'
  /** Two-letter code of the registration of most of its addresses; absent when unknown. */
  readonly country?: string
}

/** A hit in a range list, or of a list of single addresses. */
export interface RangeHit {
  readonly networkClass: NetworkClass
  /** True when the list names this one address (`ip_state`), false when a prefix covers it (`range:<class>`). */
  readonly single: boolean
  /** Brand that the list belongs to; '' when it names none. */
  readonly provider: string
  /** Id of the source, as in `SourceStatus.id`. */
  readonly source: string
}

/** All that the compiled table knows of one segment of the address space. Shared and immutable: one object a record. */
export interface NetworkRecord {
  readonly system?: AutonomousSystem
  readonly range?: RangeHit
  /** Whether a public VPN or datacenter range list covers it, whatever class won; counts of the AS directory. */
  readonly inVpnRanges: boolean
  readonly inDatacenterRanges: boolean
}

/** Address to record in one in-memory search. `undefined`: nothing is known of this address. Never throws. */
export interface NetworkTable {
  find(address: Address): NetworkRecord | undefined
}

/** Address to the two-letter code of the country it is used in. Never throws. */
export interface CountryTable {
  find(address: Address): string | undefined
}

/** What a city database says of an address; a member is absent when unknown, never empty. */
export interface GeoRecord {
  readonly countryCode?: string
  readonly city?: string
  readonly region?: string
  readonly postalCode?: string
  readonly latitude?: number
  readonly longitude?: number
  /** IANA zone name. */
  readonly timezone?: string
  /** Kilometres. */
  readonly accuracyRadius?: number
}

/** Throws when the database turns out to be corrupt at this address: the caller reports `degraded`. */
export interface GeoReader {
  read(address: Address): GeoRecord | undefined
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
}

/** One data set as it stands: `absent` was not asked for or is not there, `refused` is there and not usable. */
export interface SourceStatus {
  readonly id: string
  readonly title: string
  readonly state: 'loaded' | 'absent' | 'refused'
  /** The day the data was true, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string
  readonly entries?: number
  /** Why it was refused. */
  readonly reason?: string
  readonly licence: string
  /** The credit line to show where answers from this source are shown; '' when none is asked for. */
  readonly credit: string
}

/** Everything loaded, as one immutable value: a reload builds a new one and swaps it whole. */
export interface Snapshot {
  /** Absent members are not loaded: nothing may be concluded from them. */
  readonly networks?: NetworkTable
  readonly systems?: SystemTable
  readonly countries?: CountryTable
  readonly geo?: GeoReader
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  readonly sources: readonly SourceStatus[]
}

/** Where the current snapshot is read from; read it once per request, so that no answer mixes two. */
export interface Snapshots {
  current(): Snapshot
}
