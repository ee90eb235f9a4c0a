import rows from './sources.json' with { type: 'json' }

/**
 * One data set that Sallyport can answer from. Order is preference: of several rows that give the same thing, the
 * first whose file is there is used.
 */
export interface SourceRow {
  /** Stable name, as in the configuration's `data.sources`. */
  readonly id: string
  readonly title: string
  /** `ranges` holds prefixes of one network class, `addresses` single addresses of one. */
  readonly kind: 'asn' | 'asn-country' | 'city' | 'ranges' | 'addresses'
  /** Absent: one file for both families. */
  readonly family?: 4 | 6
  /** Of `ranges` and `addresses`. */
  readonly networkClass?:
    | 'hosting'
    | 'datacenter'
    | 'vpn'
    | 'residential_proxy'
    | 'tor'
    | 'mobile'
    | 'residential_clean'
  /** Brand that a list belongs to. */
  readonly provider?: string
  /** npm package that brings the file; absent: the user names a file. */
  readonly package?: string
  /** Path inside that package. */
  readonly file?: string
  readonly format: string
  /** SPDX id where there is one. */
  readonly licence: string
  /** The credit line that the licence asks for; '' when none. */
  readonly credit: string
  /** What to know before trusting it. */
  readonly note: string
  /** Where it is published. */
  readonly url?: string
}

export const SOURCES: readonly SourceRow[] = rows as readonly SourceRow[]
