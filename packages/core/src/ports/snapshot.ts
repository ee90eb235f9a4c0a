import type { ListKind } from '@sallyport/data/list-ages'
import type { Address } from '../address/address.ts'
import type { FrontEnds } from '../address/client.ts'
import type { Prefix } from '../address/prefix.ts'
import type { KnownCountry, WeighedCountry } from '../values/country.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'
import type { Clock } from './outside.ts'
import type {
  CountryTable,
  CrawlerRanges,
  GeoReader,
  NetworkRecord,
  NetworkTable,
  RegionTable,
  SystemTable,
} from './tables.ts'

/** Keeps a finished reverse-DNS check: what DNS said, and until when that counts. */
export interface KeptReverseCheck {
  /** The key has the address and the names that it was checked against. */
  readonly key: string
  readonly status: 'passed' | 'refuted' | 'could-not-run'
  readonly detail: string
  /** The check rests on this name. */
  readonly hostname?: string | undefined
  /** The check expires then, in milliseconds since the epoch. */
  readonly until: number
}

export interface AgingSource {
  readonly id: string
  /** Says how the source ages; absent for a source that does not. */
  readonly ages?: ListKind | undefined
  /** The source was last known to be true then, ISO 8601: its publisher had it, or it says so. Absent where nothing says so. */
  readonly lastTrue?: string | undefined
}

/** Describes the state of one data set: an `absent` one was not requested or does not exist, a `refused` one exists and is not usable. */
export interface SourceStatus extends AgingSource {
  readonly title: string
  readonly state: 'loaded' | 'absent' | 'refused'
  /** The data was true on this day, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string | undefined
  /** Counts its addresses, prefixes, systems or places; absent where nothing is loaded. */
  readonly entries?: number | undefined
  /** Counts the lines that were unreadable and left out; absent where there are none. */
  readonly left?: number | undefined
  /** The file that was read has this SHA-256, hexadecimal; absent when nothing was read. */
  readonly sha256?: string | undefined
  /** Says why it was refused, or is absent. */
  readonly reason?: string | undefined
  /** Its publisher was last seen then to have the loaded data, ISO 8601; absent for data that is not refreshed. */
  readonly checked?: string | undefined
  /** The loaded data is too old then, ISO 8601; absent for data that is not refreshed. */
  readonly staleAfter?: string | undefined
  /** Its publisher counts as lost then, ISO 8601: three of its intervals without readable data. Absent for data that is not refreshed. */
  readonly lostAfter?: string | undefined
  /** Says why the last refresh failed; the last good generation then stays loaded. */
  readonly error?: string | undefined
  /** Names the download that is loaded. */
  readonly generation?: string | undefined
  /** True for a file that the operator named: its age is up to the operator. */
  readonly own?: true | undefined
  readonly licence: string
  /** The credit line to show where answers from this source are shown; '' when none is required. */
  readonly credit: string
}

/** Describes a list of published ranges. `missing`: not loaded, so an address outside it proves nothing. */
export interface CrawlerRangeStatus {
  readonly slug: string
  /** A `stale` list is loaded and past its age. */
  readonly state: 'fresh' | 'stale' | 'missing'
  /** A `fresh` list becomes stale then, in milliseconds since the epoch; without it never. */
  readonly staleAfter?: number | undefined
  /** The ranges were true on this day, YYYY-MM-DD. */
  readonly date?: string | undefined
  /** The ranges come from this source; absent where none is loaded. */
  readonly source?: AgingSource | undefined
}

/** A fact that was set for an address or a prefix, or seen of an address, holds until it expires. */
export interface Observation {
  readonly networkClass: NetworkClass
  /** `operator` facts are set by hand and override all data. `reverse-name` facts come from the address's own name. */
  readonly origin: 'operator' | 'reverse-name'
  /** Names the brand; '' where there is none. */
  readonly provider: string
  /** The fact was set then, in milliseconds since the epoch. */
  readonly setAt: number
  /** The fact expires then, in milliseconds since the epoch; without it never. */
  readonly expiresAt?: number | undefined
  readonly note: string
}

/** Finds observations of addresses and prefixes, in memory. Never throws; expired observations are not found. */
export interface Observations {
  /** Returns the observation of the longest prefix that was set by hand and holds the address, else the one that was seen of it. */
  find(address: Address): Observation | undefined
}

/** Stores observations: one of each origin for a prefix. */
export interface ObservationStore extends Observations {
  /** Replaces an earlier observation of its origin. */
  put(prefix: Prefix, observation: Observation): Promise<void>
  /** Reports whether one was in force. */
  remove(prefix: Prefix, origin: Observation['origin']): Promise<boolean>
  /** Lists all that are in force, in the order of their prefixes' texts. */
  list(): Promise<readonly PrefixObservation[]>
}

export interface PrefixObservation extends Observation {
  readonly prefix: Prefix
}

/** Caches what one snapshot says, for a day: a record has the same finding for all its addresses, and so has a country. */
export interface Findings {
  readonly networks: DayCache<NetworkRecord, NetworkFinding>
  readonly countries: DayCache<KnownCountry, WeighedCountry>
}

export interface DayCache<Key extends object, Value> {
  /** Returns the cached value of a key, or makes and keeps one. */
  read(key: Key, make: () => Value): Value
}

/** Lists the sources that verdicts rest on without naming them; a member is absent where none is loaded. */
export interface RestsOn {
  /** The newest list of Tor exits, of VPN services, and of residential proxies: an address that they lack is none. */
  readonly tor?: AgingSource | undefined
  readonly vpn?: AgingSource | undefined
  readonly proxies?: AgingSource | undefined
  /** The oldest table that says to which system an address belongs. */
  readonly systems?: AgingSource | undefined
}

/** Holds everything loaded as one immutable value: a reload builds a new one and swaps it whole. */
export interface Snapshot {
  /** Absent members are not loaded: nothing may be concluded from them. */
  readonly networks?: NetworkTable | undefined
  readonly systems?: SystemTable | undefined
  readonly countries?: CountryTable | undefined
  readonly geo?: GeoReader | undefined
  /** Present once something asked for regions; before, and without places, no region is known. */
  readonly regions?: RegionTable | undefined
  readonly crawlerRanges?: CrawlerRanges | undefined
  /** Delivery networks publish these ranges of their servers. */
  readonly frontEnds?: FrontEnds | undefined
  /** Has one row for each list of published ranges, loaded or not; several may have one slug. */
  readonly crawlerStatus?: readonly CrawlerRangeStatus[] | undefined
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  /** True when a list of residential proxies is loaded: without one a home line cannot be distinguished from a proxy on it. */
  readonly proxiesLoaded: boolean
  /** A verdict rests on these sources beside the one that it names; without them their age is ignored. */
  readonly restsOn?: RestsOn | undefined
  readonly sources: readonly SourceStatus[]
  /** Observations are live, not a part of the loaded data, and precede it. */
  readonly observations?: Observations | undefined
  /** Judges the age of data; without a clock data counts as new. */
  readonly clock?: Clock | undefined
  /** Caches findings of this snapshot alone; without it nothing is cached. */
  readonly findings?: Findings | undefined
}

/** Returns the current snapshot; read it once per request, so that no answer mixes two. */
export interface Snapshots {
  current(): Snapshot
}
