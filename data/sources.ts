import type { ListKind } from './list-ages.ts'
import rows from './sources.json' with { type: 'json' }

/** How a file is written; `packages/engine/src/datasets/parse/formats.ts` has a parser for each, and says what it looks like. */
export type SourceFormat =
  | 'csv-asn'
  | 'tsv-asn'
  | 'delegations'
  | 'csv-country'
  | 'mmdb'
  | 'rdap-bootstrap'
  | 'mail-domains'
  | EntryFormat
  | SystemListFormat

/** Lists of addresses and prefixes have these formats. */
export type EntryFormat =
  | 'text'
  | 'first-field'
  | 'host-port'
  | 'semicolon'
  | 'geofeed'
  | 'range-csv'
  | 'json'
  | 'aws'
  | 'aws-route53-health'
  | 'aws-origin-facing'
  | 'google'
  | 'azure'
  | 'oracle'
  | 'vultr'
  | 'fastly'
  | 'github'
  | 'onionoo'
  | 'mullvad'
  | 'nordvpn'
  | 'pia'
  | 'ivpn'
  | 'airvpn'
  | 'gluetun'
  | 'monosans'
  | 'ipverse'
  | 'spamhaus-drop'

/** Lists of autonomous systems have these formats. */
export type SystemListFormat = 'asn-text' | 'csv-asn-name' | 'peeringdb' | 'spamhaus-asndrop'

/**
 * One data set that Sallyport can answer from. Order is preference: of several rows that give the same thing, the
 * first whose file is there is used.
 */
export interface SourceRow {
  /** Stable name, as in the configuration's `data.sources`. */
  readonly id: string
  readonly title: string
  /**
   * `ranges` holds prefixes of one network class, `addresses` single addresses of one, `crawler` the prefixes that an operator publishes
   * for its crawlers, `abuse` what was reported, `line-names` addresses whose reverse names belong to access lines, which says what their
   * system is and no class of an address, `asn-list` autonomous systems, `country` the countries that addresses are used in, `geofeed`
   * places, of its own prefixes where `provider` names the operator, `rdap` the servers to ask for registrations, `front-end` the servers
   * of a delivery network that connect to origins, `throwaway-mail` domains whose mail any visitor may read or discard.
   */
  readonly kind:
    | 'asn'
    | 'asn-country'
    | 'country'
    | 'city'
    | 'ranges'
    | 'addresses'
    | 'crawler'
    | 'abuse'
    | 'line-names'
    | 'asn-list'
    | 'geofeed'
    | 'rdap'
    | 'front-end'
    | 'throwaway-mail'
  /** When absent, one file has both families. */
  readonly family?: 4 | 6 | undefined
  /** Only `ranges`, `addresses` and `crawler` have it, and a `geofeed` of one access network. */
  readonly networkClass?:
    | 'hosting'
    | 'datacenter'
    | 'vpn'
    | 'residential_proxy'
    | 'tor'
    | 'mobile'
    | 'residential_clean'
    | undefined
  /** Brand that a list belongs to. */
  readonly provider?: string | undefined
  /** For `crawler`: slug of the crawler that a list is named after; absent where it is not split by crawler. */
  readonly crawler?: string | undefined
  /** For `front-end`: the name under which `trustProxy` takes its servers. */
  readonly preset?: string | undefined
  /** For `asn-list`: the type that its systems are said to have; absent where the list asserts none. */
  readonly asType?: 'hosting' | 'isp' | 'mobile' | 'vpn' | 'tor' | 'education' | 'government' | undefined
  /** npm package that brings the file; absent: it is downloaded, or the user names a file. */
  readonly package?: string | undefined
  /** The file lies at this path inside that package. */
  readonly file?: string | undefined
  readonly format: SourceFormat
  /** For `asn`: used only where the files without this know no system; of several the first that knows one. */
  readonly fallback?: true | undefined
  /** Downloading needs a key of the user's (`data.sources.<id>.key`). */
  readonly key?: true | undefined
  /** A pattern of the link that names the file, where `url` is a page. */
  readonly link?: string | undefined
  /** Entries that are wrong, and are left out. */
  readonly except?: readonly string[] | undefined
  /** The member that names a file in each entry, if `url` is an index in JSON. The files beside the index are the list. */
  readonly index?: string | undefined
  /** The list holds reserved ranges on purpose: they are left out and are no bad lines. */
  readonly reservedIsExpected?: true | undefined
  /**
   * Whether the source is used unless the configuration says otherwise: only where the licence is open, or where the operator publishes its
   * own list so that others recognise its traffic. Any row can be switched on or off in the configuration.
   */
  readonly enabled: boolean
  /** SPDX id where there is one. */
  readonly licence: string
  /** The credit line that the licence asks for; '' when none. */
  readonly credit: string
  /** The copyright line that MIT asks to keep beside a copy; a release passes an MIT list on only where it is known. */
  readonly copyright?: string | undefined
  /** A note to read before trusting it. */
  readonly note: string
  /** Its published URL; `{YYYY-MM}` stands for the month. */
  readonly url?: string | undefined
  /** Hours between two requests for it. Absent: the file does not change any more, or the user keeps it. */
  readonly refreshHours?: number | undefined
  /** How many entries the published file can plausibly have. */
  readonly entries?: { readonly min: number; readonly max: number } | undefined
  /** How much it can plausibly cover: IPv4 addresses, and IPv6 networks of /64. */
  readonly covers?: { readonly ipv4: number; readonly ipv6: number } | undefined
  /** Share of its entries that are thought to be right today, 0 to 1. */
  readonly trust?: number | undefined
  /** How it ages, where that is not as its kind and class say. */
  readonly ages?: ListKind | undefined
  /** The operator rewrites this list all the time, although not every list of its kind. */
  readonly changing?: true | undefined
}

/** Licences that let everyone use, change and pass on a list. */
export const OPEN_LICENCES: readonly string[] = [
  'CC0-1.0',
  'MIT',
  'Apache-2.0',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'PDDL-1.0',
  'Unlicense',
  'CDLA-Permissive-2.0',
]

/** Describes an operator's own list, made so that others recognise its traffic, with no licence beside it. */
export const PUBLISHED_FOR_USE = 'none stated; published for this use'

export const SOURCES: readonly SourceRow[] = rows as readonly SourceRow[]
