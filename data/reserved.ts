import rows from './reserved.json' with { type: 'json' }

/**
 * One row of the special-purpose address space: the IANA IPv4 and IPv6 special-purpose registries, completed by
 * the multicast and the deprecated ranges that those registries leave to other documents.
 */
export interface ReservedRow {
  /** CIDR, host bits zero. */
  readonly prefix: string
  /** Short name, one word or two joined by `_`, such as `private` or `link_local`. */
  readonly label: string
  /** One sentence for a person, with the RFC named. */
  readonly detail: string
  readonly rfc: string
}

export const RESERVED: readonly ReservedRow[] = rows
