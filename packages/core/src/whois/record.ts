/** What a registry says of a registered domain. A member is absent when unknown; dates are YYYY-MM-DD. */
export interface WhoisRecord {
  readonly registrar?: string
  readonly registeredOn?: string
  readonly expiresOn?: string
  readonly lastUpdated?: string
  /** A-labels, lower case, without the trailing dot, in the registry's order. */
  readonly nameservers: readonly string[]
  /** EPP codes (RFC 5731, RFC 3915) where the registry uses them, else its own words. */
  readonly status: readonly string[]
  /** Whether a privacy service or the registry's redaction stands in the registrant's place. */
  readonly privacyProtection: boolean
}

/** The same with unknown members as `undefined`. */
export interface WhoisFacts extends Pick<WhoisRecord, 'nameservers' | 'status' | 'privacyProtection'> {
  readonly registrar?: string | undefined
  readonly registeredOn?: string | undefined
  readonly expiresOn?: string | undefined
  readonly lastUpdated?: string | undefined
}

/** The record of some facts, its members in the order of the specification. */
export function recordOf({ registrar, registeredOn, expiresOn, lastUpdated, ...told }: WhoisFacts): WhoisRecord {
  return {
    ...(registrar === undefined ? {} : { registrar }),
    ...(registeredOn === undefined ? {} : { registeredOn }),
    ...(expiresOn === undefined ? {} : { expiresOn }),
    ...(lastUpdated === undefined ? {} : { lastUpdated }),
    ...told,
  }
}

/**
 * What an answer about one domain comes to. `free` and `reserved` are answers: nobody has it, or nobody may have it.
 * `throttled` and `unreadable` say nothing about the domain.
 */
export type WhoisFinding =
  | { readonly state: 'registered'; readonly record: WhoisRecord }
  | { readonly state: 'free' | 'reserved' | 'throttled' | 'unreadable' }
