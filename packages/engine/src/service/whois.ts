import { readFile } from 'node:fs/promises'
import { type Clock, type Fetch, type Port43, parseBootstrap, type Whois } from '@sallyport/core'
import { createPoliteness } from '#net'
import type { Settings } from '#settings'
import { parseHostPort } from '#settings'
import type { Registries, WhoisServer } from '#whois'

export interface WhoisParts {
  readonly clock: Clock
  readonly outbound: { readonly fetch: Fetch; readonly port43: Port43 }
  /** Path of the refreshed bootstrap file; a newer file has another path. */
  readonly bootstrapFile: () => string | undefined
}

/** Far below what registries allow over RDAP. */
const RDAP_POLITENESS = { burst: 20, spacingMs: 100, maxWaitMs: 1_000 }
/** Several registries permit one question a second, and bear a few at once. */
const PORT43_POLITENESS = { burst: 5, spacingMs: 1_000, maxWaitMs: 2_000 }

/** WHOIS as configured. The first question loads the readers of registries' answers. */
export function openWhois(config: Settings, { clock, outbound, bootstrapFile }: WhoisParts): Whois {
  const servers = new Map(Object.entries(config.whois.servers).map(([tld, server]) => [tld, parseHostPort(server)]))
  const turns = { rdap: createPoliteness(RDAP_POLITENESS).turn, port43: createPoliteness(PORT43_POLITENESS).turn }
  const registries = storedRegistries(servers, bootstrapFile)
  const parts = { clock, outbound: outbound.fetch, port43: outbound.port43, turns, registries }
  let whois: Promise<Whois> | undefined
  return {
    async find(...question) {
      whois ??= import('#whois').then(({ createWhois }) => createWhois(parts))
      return (await whois).find(...question)
    },
  }
}

type Servers = ReadonlyMap<string, WhoisServer>

/** The services of the refreshed file, or the built-in ones where it is missing or unreadable. */
function storedRegistries(servers: Servers, bootstrapFile: () => string | undefined) {
  let read: { readonly path: string | undefined; readonly registries: Registries } | undefined
  return async () => {
    const path = bootstrapFile()
    if (read === undefined || read.path !== path) read = { path, registries: await readRegistries(path, servers) }
    return read.registries
  }
}

async function readRegistries(path: string | undefined, servers: Servers): Promise<Registries> {
  const text = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '')
  const { createRegistries } = await import('#whois')
  return createRegistries({ servers, bootstrap: parseBootstrap(text) })
}
