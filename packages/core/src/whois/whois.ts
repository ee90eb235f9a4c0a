import type { RegistrableDomain } from './domain.ts'

/** A registry's record of a domain. A member is absent when unknown; dates are YYYY-MM-DD. */
export interface WhoisRecord {
  readonly registrar?: string | undefined
  readonly registeredOn?: string | undefined
  readonly expiresOn?: string | undefined
  readonly lastUpdated?: string | undefined
  /** Names are A-labels in lower case, without the trailing dot, in the registry's order. */
  readonly nameservers: readonly string[]
  /** EPP codes (RFC 5731, RFC 3915) where the registry uses them, else its own words. */
  readonly status: readonly string[]
  /** True where a privacy service is used, or the registry has redacted the registrant. */
  readonly privacyProtection: boolean
}

/** Tells whether a domain is registered; `failed` says nothing about the domain. */
export type WhoisAnswer =
  | { readonly state: 'registered'; readonly domain: string; readonly record: WhoisRecord }
  | { readonly state: 'free' | 'reserved'; readonly domain: string }
  | { readonly state: 'failed'; readonly domain: string; readonly reason: string }

/** Asks the registry of a domain. Never rejects. */
export interface Whois {
  /**
   * `withinMs` is how long to wait in all; default 4 s. `asker` names the client: clients take turns at each registry,
   * and a client with too many waiting questions gets `failed`.
   */
  find(domain: RegistrableDomain, withinMs?: number, asker?: string): Promise<WhoisAnswer>
}
