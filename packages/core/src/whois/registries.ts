import { REGISTRY_FACTS } from '@sallyport/data/registries'

/** A port-43 server. */
export interface WhoisServer {
  readonly host: string
  readonly port: number
}

export interface WhoisQuestion extends WhoisServer {
  readonly domain: string
  /** What the server wants to be asked about the domain. */
  readonly question: string
}

/** Where each top-level domain is asked about. */
export interface Registries {
  /** Base address of the RDAP service, with a slash at its end. */
  rdap(tld: string): string | undefined
  whois(tld: string, domain: string): WhoisQuestion | undefined
  /** The server of a registrar that a registry refers to, where it is one of those that are known. */
  registrar(host: string): WhoisServer | undefined
}

export interface RegistriesOptions {
  /** RDAP services by top-level domain, in place of those that are known; see `parseBootstrap`. */
  readonly bootstrap?: ReadonlyMap<string, string>
  /** Port-43 servers by top-level domain, before those that are known. */
  readonly servers?: ReadonlyMap<string, WhoisServer>
}

const WHOIS_PORT = 43
const RDAP = byTld(REGISTRY_FACTS.rdap)
const WHOIS = byTld(REGISTRY_FACTS.whois)
const REGISTRARS: ReadonlySet<string> = new Set(REGISTRY_FACTS.registrars)

export function createRegistries({ bootstrap = RDAP, servers = new Map() }: RegistriesOptions = {}): Registries {
  return {
    rdap: (tld) => bootstrap.get(tld),
    whois(tld, domain) {
      const host = WHOIS.get(tld)
      const server = servers.get(tld) ?? (host === undefined ? undefined : { host, port: WHOIS_PORT })
      const question = (REGISTRY_FACTS.questions[host ?? ''] ?? '{domain}').replace('{domain}', domain)
      return server === undefined ? undefined : { ...server, domain, question }
    },
    registrar: (host) => (REGISTRARS.has(host) ? { host, port: WHOIS_PORT } : undefined),
  }
}

/**
 * The RDAP services of IANA's bootstrap file (RFC 9224 section 3): of several addresses the first with https.
 * `undefined` where it is not of that form.
 */
export function parseBootstrap(text: string): ReadonlyMap<string, string> | undefined {
  const services = servicesOf(text)
  if (services === undefined) return undefined
  const bases = new Map<string, string>()
  for (const [tlds, urls] of services) {
    const usable = urls.filter((url) => URL.canParse(url))
    const base = usable.find((url) => url.startsWith('https:')) ?? usable[0]
    if (base === undefined) continue
    for (const tld of tlds) bases.set(tld.toLowerCase(), base.endsWith('/') ? base : `${base}/`)
  }
  return bases
}

function servicesOf(
  text: string,
): readonly (readonly [tlds: readonly string[], urls: readonly string[]])[] | undefined {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return undefined
  }
  const services = typeof file === 'object' && file !== null && 'services' in file ? file.services : undefined
  return Array.isArray(services) && services.every(isService) ? services : undefined
}

function isService(row: unknown): row is [string[], string[]] {
  return (
    Array.isArray(row) &&
    row.length >= 2 &&
    row.every((part) => Array.isArray(part) && part.every((text) => typeof text === 'string'))
  )
}

function byTld(rows: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(rows).flatMap(([address, tlds]) =>
      tlds.split(' ').map((tld) => [tld, address.replaceAll('{tld}', tld)] as const),
    ),
  )
}
