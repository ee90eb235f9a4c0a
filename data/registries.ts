import facts from './registries.json' with { type: 'json' }

/** Servers of the registries of top-level domains. `{tld}` and `{domain}` stand for what is asked about. */
export interface RegistryFacts {
  readonly source: string
  readonly date: string
  readonly note: string
  /** Base address of an RDAP service (RFC 9224), to the top-level domains it serves, separated by spaces. */
  readonly rdap: Readonly<Record<string, string>>
  /** The same of registries that IANA's bootstrap registry does not name: asked where a bootstrap file has none. */
  readonly unlisted: Readonly<Record<string, string>>
  /** Port-43 server, to the top-level domains it serves. */
  readonly whois: Readonly<Record<string, string>>
  /** Questions to servers for which the domain alone will not do. */
  readonly questions: Readonly<Record<string, string>>
  /** Port-43 servers of registrars: the only names that a registry's referral is followed to. */
  readonly registrars: readonly string[]
}

export const REGISTRY_FACTS: RegistryFacts = facts
