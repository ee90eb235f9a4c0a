import rows from './reserved.json' with { type: 'json' }

/**
 * One row of the special-purpose address space. Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries
 * (https://www.iana.org/assignments/iana-ipv4-special-registry/, …/iana-ipv6-special-registry/) as of 2025-10-09,
 * complete, and the multicast, site-local and IPv4-compatible ranges, which those registries leave to other documents.
 * The longest row that holds an address applies to it.
 *
 * One row of the registries is left out: `::ffff:0:0/96` (IPv4-mapped, RFC 4291) is not a place of its own here,
 * because such an address is read as the IPv4 address it maps.
 */
export interface ReservedRow {
  /** Prefixes are CIDRs with host bits zero. */
  readonly prefix: string
  /** Short name, one word or more joined by `_`, such as `private` or `link_local`. */
  readonly label: string
  /** Tells a person in one sentence what the prefix is for, and names the RFC. */
  readonly detail: string
  readonly rfc: string
  /** The column "Globally Reachable" of the registry; null where it says N/A. False for rows from other documents. */
  readonly globallyReachable: boolean | null
  /**
   * True when an address here is not publicly routable (specification: ReservedRange). It is the opposite of
   * `globallyReachable`, with these readings of ours: N/A counts as not reachable (6to4 and Teredo are tunnels whose
   * relays are gone, their addresses belong to an IPv4 host elsewhere; ORCHID and the 6to4 relay prefix were
   * returned); and NAT64's 64:ff9b::/96, reachable by the registry, is an IPv4 host seen through one network's own
   * translator, never announced to the Internet, so that nothing public can be said of it.
   */
  readonly reserved: boolean
}

/** The rows hold the state of the registries on this day. */
export const RESERVED_DATE = '2025-10-09'

export const RESERVED: readonly ReservedRow[] = rows
