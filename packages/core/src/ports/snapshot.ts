import type { Address } from '../address/address.ts'
import type { FrontEnds } from '../address/client.ts'
import type { Prefix } from '../address/prefix.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'
import type { Clock } from './outside.ts'
import type { CountryTable, CrawlerRanges, GeoReader, NetworkRecord, NetworkTable, SystemTable } from './tables.ts'

/** A finished reverse-DNS check, as it is kept: what DNS said, and until when that counts. */
export interface KeptReverseCheck {
  /** The address and the names it was checked against. */
  readonly key: string
  readonly status: 'passed' | 'refuted' | 'could-not-run'
  readonly detail: string
  /** The name that the check rests on. */
  readonly hostname?: string | undefined
  /** Milliseconds since the epoch after which it is asked again. */
  readonly until: number
}

/** The state of one data set: `absent` was not asked for or is not there, `refused` is there and not usable. */
export interface SourceStatus {
  readonly id: string
  readonly title: string
  readonly state: 'loaded' | 'absent' | 'refused'
  /** The day the data was true, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string | undefined
  /** How many addresses, prefixes, systems or places it holds; absent where nothing is loaded. */
  readonly entries?: number | undefined
  /** Lines that could not be read and were left out; absent where there are none. */
  readonly left?: number | undefined
  /** SHA-256 of the file it was read from, hexadecimal; absent when nothing was read. */
  readonly sha256?: string | undefined
  /** Why it was refused, or is absent. */
  readonly reason?: string | undefined
  /** When its publisher was last seen to have what is loaded, ISO 8601; absent for what is not refreshed. */
  readonly checked?: string | undefined
  /** When what is loaded is past its age, ISO 8601; absent for what is not refreshed. */
  readonly staleAfter?: string | undefined
  /** Why the last refresh failed; what is loaded is then the last good generation. */
  readonly error?: string | undefined
  /** Names the download that is loaded. */
  readonly generation?: string | undefined
  /** True for a file that the operator named: it is as old as they let it grow. */
  readonly own?: true | undefined
  readonly licence: string
  /** The credit line to show where answers from this source are shown; '' when none is asked for. */
  readonly credit: string
}

/** The state of a list of published ranges. `missing`: not loaded, so an address outside it proves nothing. */
export interface CrawlerRangeStatus {
  readonly slug: string
  /** `stale` is loaded and past its age. */
  readonly state: 'fresh' | 'stale' | 'missing'
  /** When what is `fresh` grows stale, milliseconds since the epoch; absent: never. */
  readonly staleAfter?: number | undefined
  /** The day the ranges were true, YYYY-MM-DD. */
  readonly date?: string | undefined
}

/** A fact set for an address or a prefix, or seen of an address, in force until it expires. */
export interface Observation {
  readonly networkClass: NetworkClass
  /** `operator`: set by hand, which beats all data. `reverse-name`: read off the address's own name. */
  readonly origin: 'operator' | 'reverse-name'
  /** Brand; '' when none. */
  readonly provider: string
  /** Milliseconds since the epoch. */
  readonly setAt: number
  /** Milliseconds since the epoch; absent: until it is unset. */
  readonly expiresAt?: number | undefined
  readonly note: string
}

/** Observations of addresses and prefixes, in memory. Never throws; what has expired is not found. */
export interface Observations {
  /** The longest prefix that was set by hand and holds the address, where there is one, else what was seen of it. */
  find(address: Address): Observation | undefined
}

/** Store of observations: one of each origin for a prefix. */
export interface ObservationStore extends Observations {
  /** Replaces an earlier one of its origin. */
  put(prefix: Prefix, observation: Observation): Promise<void>
  /** Whether there was one in force. */
  remove(prefix: Prefix, origin: Observation['origin']): Promise<boolean>
  /** All that are in force, in the order of their prefixes' texts. */
  list(): Promise<readonly PrefixObservation[]>
}

export interface PrefixObservation extends Observation {
  readonly prefix: Prefix
}

/**
 * Findings of one snapshot that were made today: what is said of a record is the same for all its addresses, and
 * changes only as the data grows a day older.
 */
export interface Findings {
  get(record: NetworkRecord): NetworkFinding | undefined
  keep(record: NetworkRecord, finding: NetworkFinding): void
}

/** Everything loaded, as one immutable value: a reload builds a new one and swaps it whole. */
export interface Snapshot {
  /** Absent members are not loaded: nothing may be concluded from them. */
  readonly networks?: NetworkTable | undefined
  readonly systems?: SystemTable | undefined
  readonly countries?: CountryTable | undefined
  readonly geo?: GeoReader | undefined
  readonly crawlerRanges?: CrawlerRanges | undefined
  /** Ranges that delivery networks publish of their servers. */
  readonly frontEnds?: FrontEnds | undefined
  /** One row for each list of published ranges, loaded or not; several may be of one slug. */
  readonly crawlerStatus?: readonly CrawlerRangeStatus[] | undefined
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  /** True when a list of residential proxies is loaded: without one a home line cannot be distinguished from a proxy on it. */
  readonly proxiesLoaded: boolean
  /** When the first of the range lists in `networks` is past its age, milliseconds since the epoch; absent for never. */
  readonly rangesStaleAfter?: number | undefined
  /** When the last of the lists of residential proxies is past its age, milliseconds since the epoch; absent for never. */
  readonly proxiesStaleAfter?: number | undefined
  /**
   * When the newest list of Tor's exits, and that of VPN services', was last known to be true, milliseconds since the epoch;
   * absent where none is loaded.
   */
  readonly exitsTrueAt?: { readonly tor?: number | undefined; readonly vpn?: number | undefined } | undefined
  readonly sources: readonly SourceStatus[]
  /** Live, not a part of the loaded data: asked before it. */
  readonly observations?: Observations | undefined
  /** By which the age of data is judged; absent: data counts as new. */
  readonly clock?: Clock | undefined
  /** Findings that were made before, for this snapshot alone; absent: nothing is cached. */
  readonly findings?: Findings | undefined
}

/** Source of the current snapshot; read it once per request, so that no answer mixes two. */
export interface Snapshots {
  current(): Snapshot
}
