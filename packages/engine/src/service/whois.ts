import { readFile } from 'node:fs/promises'
import { type Clock, DAY_MS, type Fetch, fetchText, type Port43, parseBootstrap, type Whois } from '@sallyport/core'
import { createPoliteFetch } from '#net'
import type { Settings } from '#settings'
import { hostPortOf } from '#settings'
import { createRegistries, createWhois, type Registries, type WhoisServer } from '#whois'

export interface WhoisParts {
  readonly clock: Clock
  readonly outbound: { readonly fetch: Fetch; readonly port43: Port43 }
  /** Path of the refreshed bootstrap file; a newer file has another path. */
  readonly bootstrapFile?: (() => string | undefined) | undefined
}

/** Far below what registries allow over RDAP. */
const RDAP_POLITENESS = { burst: 20, spacingMs: 100, maxWaitMs: 1_000 }

const BOOTSTRAP = { maxBytes: 1024 * 1024, timeoutMs: 2_000, redirects: 2 }
/** How long to wait after a failed download of the bootstrap file. */
const RETRY = 60_000

/** WHOIS as configured. */
export function createWhoisOf(config: Settings, { clock, outbound, bootstrapFile }: WhoisParts): Whois {
  const servers = new Map(Object.entries(config.whois.servers).map(([tld, server]) => [tld, hostPortOf(server)]))
  const { rdapBootstrap } = config.whois
  return createWhois({
    clock,
    outbound: createPoliteFetch(outbound.fetch, RDAP_POLITENESS),
    port43: outbound.port43,
    registries:
      rdapBootstrap === undefined
        ? storedRegistries(servers, bootstrapFile)
        : fetchedRegistries(rdapBootstrap, servers, { clock, outbound: outbound.fetch }),
  })
}

type Servers = ReadonlyMap<string, WhoisServer>

/** The services of the refreshed file, or the built-in ones where it is missing or unreadable. */
function storedRegistries(servers: Servers, bootstrapFile: () => string | undefined = () => undefined) {
  let read: { readonly path: string | undefined; readonly registries: Registries } | undefined
  return async () => {
    const path = bootstrapFile()
    if (read === undefined || read.path !== path) read = { path, registries: await registriesOf(path, servers) }
    return read.registries
  }
}

/** The services of a bootstrap file at a URL, fetched once a day; until then the built-in ones. */
function fetchedRegistries(
  url: string,
  servers: Servers,
  { clock, outbound }: { readonly clock: Clock; readonly outbound: Fetch },
) {
  let registries = createRegistries({ servers })
  let next = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined

  async function refresh(): Promise<void> {
    const answer = await fetchText(outbound, { url, ...BOOTSTRAP })
    const bases = answer.state === 'answered' && answer.status === 200 ? parseBootstrap(answer.body) : undefined
    next = clock.now() + (bases === undefined ? RETRY : DAY_MS)
    if (bases !== undefined) registries = createRegistries({ bootstrap: bases, servers })
    running = undefined
  }

  return async () => {
    if (clock.now() >= next) running ??= refresh()
    await running
    return registries
  }
}

async function registriesOf(path: string | undefined, servers: Servers): Promise<Registries> {
  const text = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '')
  const bases = parseBootstrap(text)
  return createRegistries({ servers, bootstrap: bases })
}
