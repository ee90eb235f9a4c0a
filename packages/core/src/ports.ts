import type { Address } from './address/address.ts'
import type { FrontEnds } from './address/client.ts'
import type { Prefix } from './address/prefix.ts'
import type { NetworkFinding } from './values/finding.ts'
import type { AsType, DirectoryOrder, NetworkClass } from './vocabulary.ts'

/** Milliseconds since the epoch; never goes back within a process. */
export interface Clock {
  now(): number
}

/** "Ran and found nothing" and "could not run" are different results: only `absent` says that the name has no address. */
export type NameAnswer =
  | { readonly state: 'found'; readonly addresses: readonly Address[] }
  | { readonly state: 'absent' }
  | { readonly state: 'failed'; readonly reason: string }

/** The reverse names of an address. Only `absent` says that it has none. */
export type ReverseAnswer =
  | { readonly state: 'found'; readonly names: readonly string[] }
  | { readonly state: 'absent' }
  | { readonly state: 'failed'; readonly reason: string }

/** Names and addresses, by DNS alone: never a hosts file, a search domain or a numeric form. Never rejects. */
export interface Dns {
  /** `family`: ask for addresses of this family alone; absent: for both. */
  resolve(name: string, family?: 4 | 6): Promise<NameAnswer>
  /** The PTR records of an address, unchecked: the holder of the address can write anything into them. */
  resolvePtr(address: Address): Promise<ReverseAnswer>
}

/** One outbound request. GET alone: nothing outside is written to. */
export interface FetchRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Most bytes of the body, on the wire and after decompression. */
  readonly maxBytes: number
  /** For all of it: names, connection, headers, body and redirects. */
  readonly timeoutMs: number
  /** How many redirects are followed, each target checked as the first; default 0. One that is not followed is an answer. */
  readonly redirects?: number
  /** Permits plain http; default https alone, and either towards the addresses of `net.allowPrivate`. */
  readonly allowHttp?: boolean
  /** Ends it earlier; the answer, or its body, has then failed. */
  readonly signal?: AbortSignal
}

/**
 * `answered` is any HTTP status. `headers` have lower-case names. `body` is read at most once and rejects when a bound
 * is broken; it holds a socket until it is read to the end, dropped (`dropBody`) or past the deadline.
 */
export type FetchAnswer =
  | {
      readonly state: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: AsyncIterable<Uint8Array>
    }
  | { readonly state: 'failed'; readonly reason: string }

/** HTTP to public addresses only. Never rejects. */
export interface Fetch {
  readonly fetch: (request: FetchRequest) => Promise<FetchAnswer>
}

/** One question to a WHOIS server (RFC 3912). */
export interface Port43Question {
  readonly host: string
  readonly port: number
  /** The line that is sent, without its end: printable ASCII. */
  readonly question: string
  /** For all of it: name, connection and answer. */
  readonly timeoutMs: number
}

export type Port43Answer =
  | { readonly state: 'answered'; readonly text: string }
  | { readonly state: 'failed'; readonly reason: string }

/** WHOIS over TCP, to public addresses only. Never rejects. */
export interface Port43 {
  ask(question: Port43Question): Promise<Port43Answer>
}
/**
 * Source of an autonomous system's type: a row of the operator table, a rule over its name, a list of systems,
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
  readonly list?: string
  /** Two-letter code of the registration of most of its addresses; absent when unknown. */
  readonly country?: string
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
  readonly date?: string
  /**
   * A list that others made, what an operator publishes of its own machines, a rule over how many known exits share a
   * prefix, or the weak sign that listed proxies do (`NetworkRecord.near`).
   */
  readonly rule: 'list' | 'published' | 'density' | 'neighbours'
  /** Whether the list's own prefix here is a /24, a /48 or longer; true of a single address. */
  readonly narrow: boolean
  /** How far the source is believed, 0 to 1, where its row says so. */
  readonly trust?: number
  /** The last day on which what it says holds, in days since the epoch; absent when it holds for ever. */
  readonly expires?: number
}

/** All that the compiled table knows of one segment of the address space. Shared and immutable: one object a record. */
export interface NetworkRecord {
  readonly system?: AutonomousSystem
  /** The hit that comes first by precedence. */
  readonly range?: RangeHit
  /** Hits of further lists, in order of precedence. */
  readonly also: readonly RangeHit[]
  /** Listed proxies beside the address: too weak for a class. Absent where there are none. */
  readonly near?: RangeHit
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

/** Address to the two-letter code of the country it is used in. Never throws. */
export interface CountryTable {
  find(address: Address): string | undefined
}

/** Which crawlers publish a range that holds an address, by slug; none is an empty list. Never throws. */
export interface CrawlerRanges {
  find(address: Address): readonly string[]
}

/** The state of a list of published ranges. `missing`: not loaded, so an address outside it proves nothing. */
export interface CrawlerRangeStatus {
  readonly slug: string
  /** `stale` is loaded and past its age. */
  readonly state: 'fresh' | 'stale' | 'missing'
  /** When what is `fresh` grows stale, milliseconds since the epoch; absent: never. */
  readonly staleAfter?: number
  /** The day the ranges were true, YYYY-MM-DD. */
  readonly date?: string
}

/** A city database's record of an address; a member is absent when unknown, never empty. */
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
  /** Id of the geofeed by which the network's own operator says so; absent: a city database (D193). */
  readonly source?: string
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
  /** The `count` largest, largest first; equal sizes by number. */
  largest(by: DirectoryOrder, count: number): readonly number[]
  /** At most `limit` systems of which the name, folded by `foldName`, holds `text`; the one of most addresses first. */
  named(text: string, limit: number): readonly number[]
}

/** A finished reverse-DNS check, as it is kept: what DNS said, and until when that counts. */
export interface KeptReverseCheck {
  /** The address and the names it was checked against. */
  readonly key: string
  readonly status: 'passed' | 'refuted' | 'could-not-run'
  readonly detail: string
  /** The name that the check rests on. */
  readonly hostname?: string
  /** Milliseconds since the epoch after which it is asked again. */
  readonly until: number
}

/** The state of one data set: `absent` was not asked for or is not there, `refused` is there and not usable. */
export interface SourceStatus {
  readonly id: string
  readonly title: string
  readonly state: 'loaded' | 'absent' | 'refused'
  /** The day the data was true, YYYY-MM-DD; absent when nothing says so. */
  readonly date?: string
  /** How many addresses, prefixes, systems or places it holds; absent where nothing is loaded. */
  readonly entries?: number
  /** Lines that could not be read and were left out; absent where there are none. */
  readonly left?: number
  /** SHA-256 of the file it was read from, hexadecimal; absent when nothing was read. */
  readonly sha256?: string
  /** Why it was refused, or is absent. */
  readonly reason?: string
  /** When its publisher was last seen to have what is loaded, ISO 8601; absent for what is not refreshed. */
  readonly checked?: string
  /** When what is loaded is past its age, ISO 8601; absent for what is not refreshed. */
  readonly staleAfter?: string
  /** Why the last refresh failed; what is loaded is then the last good generation. */
  readonly error?: string
  /** Names the download that is loaded. */
  readonly generation?: string
  readonly licence: string
  /** The credit line to show where answers from this source are shown; '' when none is asked for. */
  readonly credit: string
}

/** A setting for an address or a prefix, or a sighting of an address, in force until it expires. */
export interface Observation {
  readonly networkClass: NetworkClass
  /** `operator`: set by hand, which beats all data. `reverse-name`: read off the address's own name. */
  readonly origin: 'operator' | 'reverse-name'
  /** Brand; '' when none. */
  readonly provider: string
  /** Milliseconds since the epoch. */
  readonly setAt: number
  /** Milliseconds since the epoch; absent: until it is unset. */
  readonly expiresAt?: number
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
  readonly networks?: NetworkTable
  readonly systems?: SystemTable
  readonly countries?: CountryTable
  readonly geo?: GeoReader
  readonly crawlerRanges?: CrawlerRanges
  /** Servers of delivery networks, as published. */
  readonly frontEnds?: FrontEnds
  /** One row for each list of published ranges, loaded or not; several may be of one slug. */
  readonly crawlerStatus?: readonly CrawlerRangeStatus[]
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
  /** True when a list of residential proxies is loaded: without one a home line cannot be distinguished from a proxy on it. */
  readonly proxiesLoaded: boolean
  /** When the first of the range lists in `networks` is past its age, milliseconds since the epoch; absent for never. */
  readonly rangesStaleAfter?: number
  /** When the last of the lists of residential proxies is past its age, milliseconds since the epoch; absent for never. */
  readonly proxiesStaleAfter?: number
  /**
   * When the lists of exits were last known to be true, milliseconds since the epoch: of Tor's and of VPN services' the newest
   * each, and of the two the older; absent where none is loaded.
   */
  readonly exitsTrueAt?: number
  readonly sources: readonly SourceStatus[]
  /** Live, not a part of the loaded data: asked before it. */
  readonly observations?: Observations
  /** By which the age of data is judged; absent: data counts as new. */
  readonly clock?: Clock
  /** Findings that were made before, for this snapshot alone; absent: nothing is cached. */
  readonly findings?: Findings
}

/** Source of the current snapshot; read it once per request, so that no answer mixes two. */
export interface Snapshots {
  current(): Snapshot
}
