import type { WhoisRecord } from '@sallyport/core'

/** Builds a record, with its members in the order of the specification; facts are `undefined` if unknown. */
export function buildRecord({ registrar, registeredOn, expiresOn, lastUpdated, ...rest }: WhoisRecord): WhoisRecord {
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
