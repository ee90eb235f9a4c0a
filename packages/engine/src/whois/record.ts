import type { WhoisRecord } from '@sallyport/core'

/** The facts of a record, unknown ones as `undefined`. */
export interface WhoisFacts extends Pick<WhoisRecord, 'nameservers' | 'status' | 'privacyProtection'> {
  readonly registrar?: string | undefined
  readonly registeredOn?: string | undefined
  readonly expiresOn?: string | undefined
  readonly lastUpdated?: string | undefined
}

/** The record of some facts, its members in the order of the specification. */
export function recordOf({ registrar, registeredOn, expiresOn, lastUpdated, ...rest }: WhoisFacts): WhoisRecord {
  return {
    ...(registrar === undefined ? {} : { registrar }),
    ...(registeredOn === undefined ? {} : { registeredOn }),
    ...(expiresOn === undefined ? {} : { expiresOn }),
    ...(lastUpdated === undefined ? {} : { lastUpdated }),
    ...rest,
  }
}

/**
 * An answer about one domain. `free` and `reserved` are answers: nobody has it, or nobody may have it.
 * `throttled` and `unreadable` say nothing about the domain.
 */
export type WhoisFinding =
  | { readonly state: 'registered'; readonly record: WhoisRecord }
  | { readonly state: 'free' | 'reserved' | 'throttled' | 'unreadable' }
