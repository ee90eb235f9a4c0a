import {
  type Clock,
  type CrawlerVerifier,
  createKeyDirectories,
  createReplayMemory,
  createSignatureVerifier,
  type Fetch,
  findKeySource,
} from '@sallyport/core'
import type { Settings } from '#settings'

/** An agent's key directory as if it had been fetched: a JWKS. */
export interface PublishedKeys {
  readonly agent: string
  readonly document: unknown
}

export interface AgentPorts {
  readonly clock: Clock
  readonly outbound: Fetch
  readonly published: readonly PublishedKeys[]
}

/** Web Bot Auth: keys are fetched in the background, through the guarded fetcher. */
export function openAgents(
  { webBotAuth }: Settings,
  { catalogue }: CrawlerVerifier,
  { clock, outbound, published }: AgentPorts,
) {
  const { agents: named = [], authorityHeader } = webBotAuth ?? {}
  const agents = named.filter((agent) => agent !== '*')
  const origins = new Set(agents.map((agent) => new URL(agent).origin))
  const directories = createKeyDirectories({ clock, outbound })
  const signatures = createSignatureVerifier({
    clock,
    catalogue,
    directories,
    replay: createReplayMemory(),
    agents,
    discover: named.includes('*'),
    authorityHeader,
  })
  // Configured agents' keys are prefetched, so that their first signed request finds them.
  for (const uri of agents) {
    const source = findKeySource({ uri, type: 'directory' }, origins)
    if (source !== undefined) directories.find(source, '', true)
  }
  for (const { agent, document } of published) {
    const source = findKeySource({ uri: agent, type: 'directory' }, origins)
    if (source !== undefined) directories.put(source, document)
  }
  return { signatures }
}
