import type { WhoisRecord } from '@sallyport/core'

/** Facts of a record are `undefined` if unknown. */
export interface WhoisFacts extends Pick<WhoisRecord, 'nameservers' | 'status' | 'privacyProtection'> {
  readonly registrar?: string | undefined
  readonly registeredOn?: string | undefined
  readonly expiresOn?: string | undefined
  readonly lastUpdated?: string | undefined
}

/** Builds a record, with its members in the order of the specification. */
export function buildRecord({ registrar, registeredOn, expiresOn, lastUpdated, ...rest }: WhoisFacts): WhoisRecord {
  return {
    ...(registrar === undefined ? {} : { registrar }),
    ...(registeredOn === undefined ? {} : { registeredOn }),
    ...(expiresOn === undefined ? {} : { expiresOn }),
    ...(lastUpdated === undefined ? {} : { lastUpdated }),
    ...rest,
  }
}

/**
 * Answers a question about one domain. `free` and `reserved` are answers: the domain has no owner, or may have none. `throttled` and
 * `unreadable` say nothing about the domain.
 */
export type WhoisFinding =
  | { readonly state: 'registered'; readonly record: WhoisRecord }
  | { readonly state: 'free' | 'reserved' | 'throttled' | 'unreadable' }
