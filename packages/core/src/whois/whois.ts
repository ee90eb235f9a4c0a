import type { RegistrableDomain } from './domain.ts'

/** A registry's record of a domain. A member is absent when unknown; dates are YYYY-MM-DD. */
export interface WhoisRecord {
  readonly registrar?: string | undefined
  readonly registeredOn?: string | undefined
  readonly expiresOn?: string | undefined
  readonly lastUpdated?: string | undefined
  /** A-labels, lower case, without the trailing dot, in the registry's order. */
  readonly nameservers: readonly string[]
  /** EPP codes (RFC 5731, RFC 3915) where the registry uses them, else its own words. */
  readonly status: readonly string[]
  /** Whether a privacy service or the registry's redaction hides the registrant. */
  readonly privacyProtection: boolean
}

/** The registration of a domain; `failed` says nothing about the domain. */
export type WhoisAnswer =
  | { readonly state: 'registered'; readonly domain: string; readonly record: WhoisRecord }
  | { readonly state: 'free' | 'reserved'; readonly domain: string }
  | { readonly state: 'failed'; readonly domain: string; readonly reason: string }

/** Asks the registry of a domain. Never rejects. */
export interface Whois {
  /**
   * `withinMs`: how long the answer is waited for in all; default 4 s. `asker`: who asks; askers take turns at each registry,
   * and an asker with too many questions waiting gets `failed`.
   */
  find(domain: RegistrableDomain, withinMs?: number, asker?: string): Promise<WhoisAnswer>
}
