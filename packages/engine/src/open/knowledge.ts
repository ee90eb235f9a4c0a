import {
  type Address,
  createLookup,
  createNameTurns,
  createReverseNames,
  locateRegion,
  type NetworkFinding,
} from '@sallyport/core'
import type { Config } from '#config'
import { openLiveData } from '#datasets/service'
import {
  DATA_LOCK,
  type DisposeStack,
  dnsWithTimeout,
  type OpenHooks,
  openAgents,
  openCrawlers,
  openWhois,
  type PublishedKeys,
  saysCompiling,
  whoisWithTimeout,
} from '#service'
import type { Base } from './base.ts'
import { countedWhois } from './measures.ts'

/** The resolver's share of the four seconds that a lookup of a hostname may take. */
const LOOKUP_DNS_MS = 3_000

export interface KnowledgeHooks extends OpenHooks {
  readonly published: readonly PublishedKeys[]
}

/** Opens what a service knows of addresses, domains, crawlers and agents. */
export async function openKnowledge(config: Config, base: Base, hooks: KnowledgeHooks, resources: DisposeStack) {
  const { keeping, notice, onFault, clock, metrics, outbound, observations } = base
  const dataHooks = { ...hooks, onProgress: hooks.onProgress ?? saysCompiling(notice) }
  const dataPorts = { notice, onFault, clock, outbound: outbound.feeds, lock: DATA_LOCK, observations }
  const { snapshots, bootstrapFile, throwawayMail, openRegions, readRegions } = await resources.use(
    openLiveData(config, { ...dataPorts, hooks: dataHooks }),
  )
  const whois = countedWhois(openWhois(config, { clock, outbound, bootstrapFile }), metrics)
  const turns = createNameTurns()
  const crawlers = await resources.use(
    openCrawlers(keeping.kept, { clock, onFault, dns: outbound.oneTry, turns, snapshots }),
  )
  const agents = { clock, outbound: outbound.fetch, published: hooks.published }
  const { signatures } = openAgents(config, crawlers.verifier, agents)
  const reverseNames = config.dns.reverseNames
    ? await resources.use(createReverseNames({ clock, dns: outbound.dns, store: observations, turns, onFault }))
    : undefined
  const patient = { dns: dnsWithTimeout(outbound.dns, LOOKUP_DNS_MS), whois: whoisWithTimeout(whois) }
  const lookup = createLookup({ clock, snapshots, turns, ...patient })
  const findRegion = async (address: Address, network: NetworkFinding) =>
    locateRegion(address, network, { regions: await readRegions() })
  return {
    snapshots,
    throwawayMail,
    openRegions,
    findRegion,
    whois,
    lookup,
    turns,
    crawlers,
    signatures,
    onClassified: reverseNames?.offer,
  }
}
