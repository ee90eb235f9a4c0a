import { createCrawlerAnswers, createInspector } from '@sallyport/core'
import { mergePlans } from '#accounts'
import type { Api, ApiServices } from '#api'
import type { Config, ConfigInput, Reloaded } from '#config/service'
import { parseConfig } from '#config/service'
import { createStamper } from '#features/anchors'
import { createServiceBans } from '#features/bans'
import { openBehaviour } from '#features/behaviour'
import { type CrawlPorts, openCrawls } from '#features/crawls'
import { listNames } from '#features/lists'
import { openProtection } from '#features/logins'
import { createPayments } from '#features/payments'
import { openTally } from '#features/report'
import type { OnTurned } from '#service'
import {
  createCounting,
  createDirectoryFinder,
  createDisposeStack,
  createFieldVerifier,
  createKeyring,
  createOverrides,
  type DisposeStack,
  inDataDir,
  type OpenHooks,
  openChallenges,
  openStores,
  type PublishedKeys,
} from '#service'
import { type Base, openBase } from './base.ts'
import { type KnowledgeHooks, openKnowledge } from './knowledge.ts'
import { measure } from './measures.ts'
import { createObservers } from './observers.ts'
import { openProvenance } from './provenance.ts'
import { referencePage } from './reference-page.ts'
import { createReloadable, extend, type Others, type Rules, toRules } from './reload.ts'
import { createSiteTexts } from './robots.ts'
import type { Sallyport } from './sallyport.ts'
import { observeRefusals } from './sinks.ts'
import { openTracer, traced } from './spans.ts'
import { staleGrace, watchStale } from './stale-watch.ts'
import { type OpenSurroundings, openSurroundings } from './surroundings.ts'

/**
 * Builds everything that a configuration names. The first open of a dataDir compiles the embedded data, which takes
 * some seconds; data that cannot be used leaves the service degraded, with a notice. A PostgreSQL or Redis that cannot
 * be reached is reported to `onFault` and reconnected. Rejects with `invalid_config`, `invalid_policy`, with
 * `data_dir_unusable`, with `package_missing` where a driver is not installed, with `ledger_refused` where a ledger contradicts
 * its checkpoints, and where the embedded store cannot be opened.
 *
 * @example
 * ```ts
 * import { open } from 'sallyport'
 *
 * const sallyport = await open({ dataDir: './.sallyport', policy: { preset: 'low-friction' } })
 * const { verdict, riskScore } = await sallyport.lookup('185.220.101.10')
 * console.log(verdict.classification, verdict.confidence, riskScore)   // tor 0.85 84
 * await sallyport.close()
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/code.md#the-open-function
 */
export function open(options: ConfigInput = {}, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openSimulated([], options, hooks)
}

/** The same with keys that count as published by agents: for the demo, `simulate` and tests, and not for customers. */
export async function openSimulated(
  published: readonly PublishedKeys[],
  options: ConfigInput,
  hooks: OpenHooks = {},
): Promise<Sallyport> {
  const config = parseConfig(options)
  // Faults of the rules are said before anything is opened.
  toRules(config, { lists: listNames(config) })
  const resources = createDisposeStack()
  try {
    return await inDataDir(config, () => build(config, { ...hooks, published }, resources))
  } catch (error) {
    // The error of the opening is the one to report.
    await resources.dispose().catch(() => {})
    throw error
  }
}

async function build(config: Config, hooks: KnowledgeHooks, resources: DisposeStack): Promise<Sallyport> {
  const base = await openBase(config, hooks, resources)
  const { keeping, onFault, clock, metrics, outbound, sinks, log, observations } = base
  const knowledge = await openKnowledge(config, base, hooks, resources)
  const { snapshots, throwawayMail, findRegion, whois, lookup, crawlers } = knowledge
  const { accounts, onKeyUsed } = await resources.use(openStores(keeping, onFault))
  const decided = await openInspection(config, { base, knowledge, hooks }, resources)
  const { provenance, counting, surroundings, challenges, behaviour, inspection, exportedBans } = decided
  const tally = await resources.use(openTally(keeping.kept, { ...base, robots: surroundings.current().robots }))
  const { crawls } = await resources.use(openCrawlRecords(config, { ...base, ...surroundings, provenance }))
  const answers = createCrawlerAnswers(crawlers.verifier, { clock, snapshots })
  const api = createServiceApi(config, {
    clock,
    lookup,
    whois,
    snapshots,
    accounts,
    provenance,
    counts: counting.calls,
    crawlers: answers,
    nameTurns: knowledge.turns,
    client: inspection.client,
    check: inspection.check,
    onChecked(decision) {
      // The lines of the log keep the order of the requests.
      observers.drain()
      log.onChecked(decision)
    },
    onKeyUsed,
    onError: onFault,
  })
  const sources = () => [...snapshots.current().sources, ...surroundings.sources]
  const { load } = surroundings
  measure(metrics, { clock, sources, load, provenance, bans: counting.bans, inspection, behaviour, log })
  await resources.use(watchStale({ sources, clock, raise: sinks.raise, graceMs: staleGrace(config) }))
  const others = [crawls?.observe, behaviour.observe, log.observe, observeRefusals(sinks), hooks.observe]
  const observers = await resources.use(createObservers({ metrics, tally, others, flush: log.flush }))
  const { observe, drain } = observers
  const parts = { throwaway: throwawayMail, dns: outbound.dns, snapshots }
  const protection = await resources.use(openProtection(keeping.kept, { ...base, ...parts, inspection, observe }))
  const inForce = () => inspection.config
  const paying = { provider: hooks.payments, fetch: outbound.feeds, onFault }
  return extend(inspection, {
    async reload(options: ConfigInput, others?: Others): Promise<Reloaded> {
      const reloaded = await inspection.reload(options, others)
      // Records of requests that ended under the configuration before.
      drain()
      tally.turn(inspection.config, reloaded.changed)
      return reloaded
    },
    observe,
    drain,
    log,
    raise: sinks.raise,
    meter: metrics,
    metrics: () => metrics.registry,
    api,
    settle: crawlers.settle,
    accounts: { ...accounts, ...protection.events },
    keyring: createKeyring(accounts, clock, config.api.plans),
    overrides: createOverrides(observations, clock),
    lookup: lookup.lookup,
    ...createSiteTexts(inForce),
    keyDirectory: createDirectoryFinder({ now: clock.now, isTrusted: inspection.isTrusted, config: inForce }),
    provenance,
    challenges,
    verifyField: createFieldVerifier(challenges, inForce),
    payments: createPayments(inForce, paying),
    behaviour,
    crawls,
    bans: counting.bans,
    exportedBans,
    knowledge: { snapshots, findRegion, whois, crawlers: answers, catalogue: crawlers.verifier.catalogue },
    sources,
    lists: () => surroundings.current().lists,
    load,
    siteRobots: surroundings.siteRobots,
    close: resources.dispose,
  })
}

interface Opened {
  readonly base: Base
  readonly knowledge: Awaited<ReturnType<typeof openKnowledge>>
  readonly hooks: OpenHooks
}

/** Opens what decides about requests: the ledger, counts, lists, challenges and behaviour, and the rules over them. */
async function openInspection(config: Config, { base, knowledge, hooks }: Opened, resources: DisposeStack) {
  const { keeping, notice, onFault, clock, isTrial, metrics, outbound, sinks, log } = base
  const { snapshots, openRegions, findRegion, crawlers, signatures, onClassified } = knowledge
  const { raise } = sinks
  const onKeyMade = (file: string) => notice('SALLYPORT_SIGNING_KEY_MADE', `${file} ${SIGNING_KEY_MADE}`)
  const stamper = openStamper(config, base)
  const provenance = await resources.use(
    openProvenance(config, { clock, onFault, onKeyMade, raise, stamper, snapshots, findRegion }),
  )
  const counting = await resources.use(
    createCounting(keeping.kept, { clock, onFault, onBanned: (...made) => onBanned(...made) }),
  )
  const onLoadTurned: OnTurned = ({ on, ...details }) =>
    log.audit({ what: on ? 'load on' : 'load off', who: 'service', details })
  const surroundings = await resources.use(openSurroundings(config, { ...base, onLoadTurned }))
  const published = () => snapshots.current().frontEnds
  const rules = toRules(config, surroundings.current(), published)
  const prepare = async (rules: Rules): Promise<void> => {
    await counting.prepare(rules)
    if (rules.policy.readsRegions) await openRegions()
  }
  await prepare(rules)
  const asking = { clock, onFault, metrics, outbound, hooks, counts: counting.calls, host: () => inspection }
  const challenges = openChallenges(config, asking)
  const tracer = await openTracer()
  const behaviour = await resources.use(openBehaviour(config, { clock, onFault, isTrial }))
  const inspected = {
    clock,
    snapshots,
    signatures,
    onClassified,
    onFault,
    crawlers: crawlers.verifier,
    findPass: challenges.findPass,
    onForwardedUntrusted: () => notice('SALLYPORT_FORWARDED_UNTRUSTED', FORWARDED_UNTRUSTED),
    onLocalClient: () => notice('SALLYPORT_LOCAL_CLIENT', LOCAL_CLIENT),
  }
  const inspection = createReloadable(config, rules, {
    createInspector: (rules, config) =>
      traced(createInspector({ ...rules, ...inspected, ...behaviour.apply(config) }), tracer),
    makeCounter: counting.makeCounter,
    prepare,
    openRegions,
    log,
    sinks,
    published,
    surroundings,
  })
  const { bans } = counting
  const { onBanned, list: exportedBans } = createServiceBans({ log, raise, inspection, bans })
  return { provenance, counting, surroundings, challenges, behaviour, inspection, exportedBans }
}

interface CrawlRecordPorts extends Pick<Base, 'isTrial' | 'metrics'>, Pick<CrawlPorts, 'provenance' | 'robotsText'> {
  readonly current: OpenSurroundings['current']
}

/** Opens the records of crawling; recorded and made up requests leave none. */
function openCrawlRecords(config: Config, { isTrial, metrics, provenance, robotsText, current }: CrawlRecordPorts) {
  const { robots = () => undefined } = current()
  const onRecord = (outcome: string) => metrics.add('crawlRecords', [outcome])
  const elapsed = () => performance.now()
  const crawls = isTrial ? undefined : openCrawls(config, { provenance, robots, robotsText, elapsed, onRecord })
  return { crawls, close: async () => crawls?.close() }
}

/** Opens what asks authorities of time; recorded and made up requests ask nobody. */
function openStamper(config: Config, { isTrial, outbound, clock, metrics }: Base) {
  const onAnswer = (state: string) => metrics.add('ledgerTimestamps', [state])
  return isTrial ? undefined : createStamper(config, { fetch: outbound.feeds, now: clock.now, onAnswer })
}

/** Returns the API of a configuration, which the first request loads. */
function createServiceApi({ api: { plans } }: Config, services: Omit<ApiServices, 'plans'>): Api {
  let loading: Promise<Api> | undefined
  const load = async () => {
    const { createApi } = await import('#api')
    return createApi({ ...services, plans: mergePlans(plans), reference: referencePage })
  }
  return async (request) => {
    loading ??= load()
    return (await loading)(request)
  }
}

const FORWARDED_UNTRUSTED =
  'Requests carry forwarding headers, but no proxy is trusted, so every visitor has the address of the socket. ' +
  'If your proxy is in front, add it to trustProxy.'

const LOCAL_CLIENT =
  'A request came from this machine. Clients on this machine count as people and are never challenged or banned. ' +
  "To test other visitors, set trustProxy: ['loopback'] and send X-Forwarded-For: 185.220.101.10 (a Tor exit)."

const SIGNING_KEY_MADE =
  'was created. This key signs checkpoints and evidence of the ledger. Back it up, and publish its public half from ' +
  'GET /v1/provenance/keys.'
