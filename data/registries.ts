import facts from './registries.json' with { type: 'json' }

/** Lists the servers of top-level domain registries. `{tld}` and `{domain}` stand for the parts of a queried name. */
export interface RegistryFacts {
  readonly source: string
  readonly date: string
  readonly note: string
  /** Base address of an RDAP service (RFC 9224), to the top-level domains it serves, separated by spaces. */
  readonly rdap: Readonly<Record<string, string>>
  /** Does the same for registries that IANA's bootstrap registry does not name: asked when a bootstrap file has none. */
  readonly unlisted: Readonly<Record<string, string>>
  /** Port-43 server, to the top-level domains it serves. */
  readonly whois: Readonly<Record<string, string>>
  /** Queries for servers to which the domain alone is not enough. */
  readonly questions: Readonly<Record<string, string>>
  /** Port-43 servers of registrars: the only names that a registry's referral is followed to. */
  readonly registrars: readonly string[]
}

export const REGISTRY_FACTS: RegistryFacts = facts
