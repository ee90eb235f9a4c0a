import { REGISTRY_FACTS } from '@sallyport/data/registries'

export interface WhoisServer {
  readonly host: string
  readonly port: number
}

export interface WhoisQuestion extends WhoisServer {
  readonly domain: string
  /** The line that the server expects as a question about the domain. */
  readonly question: string
}

export type Registries = ReturnType<typeof createRegistries>

export interface RegistriesOptions {
  /** Replaces embedded RDAP services by top-level domain; `parseBootstrap` of core reads them. */
  readonly bootstrap?: ReadonlyMap<string, string> | undefined
  /** Port-43 servers by top-level domain, which come before the embedded servers. */
  readonly servers?: ReadonlyMap<string, WhoisServer> | undefined
}

const WHOIS_PORT = 43
const RDAP = byTld(REGISTRY_FACTS.rdap)
const UNLISTED = byTld(REGISTRY_FACTS.unlisted)
const WHOIS = byTld(REGISTRY_FACTS.whois)
const REGISTRARS: ReadonlySet<string> = new Set(REGISTRY_FACTS.registrars)

/** Finds the services that answer for each top-level domain. */
export function createRegistries({ bootstrap = RDAP, servers = new Map() }: RegistriesOptions = {}) {
  return {
    /**
     * Returns the base address of the RDAP service, which ends in a slash. RDAP goes first, even for registries that IANA does not list,
     * unless a port-43 server is configured.
     */
    rdap: (tld: string): string | undefined => bootstrap.get(tld) ?? (servers.has(tld) ? undefined : UNLISTED.get(tld)),
    whois(tld: string, domain: string): WhoisQuestion | undefined {
      const host = WHOIS.get(tld)
      const server = servers.get(tld) ?? (host === undefined ? undefined : { host, port: WHOIS_PORT })
      const question = (REGISTRY_FACTS.questions[host ?? ''] ?? '{domain}').replace('{domain}', domain)
      return server === undefined ? undefined : { ...server, domain, question }
    },
    /** Returns the server of a registrar that a registry refers to, if the server is known. */
    registrar: (host: string): WhoisServer | undefined =>
      REGISTRARS.has(host) ? { host, port: WHOIS_PORT } : undefined,
  }
}

function byTld(rows: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(rows).flatMap(([address, tlds]) =>
      tlds.split(' ').map((tld) => [tld, address.replaceAll('{tld}', tld)] as const),
    ),
  )
}
