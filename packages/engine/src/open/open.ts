import {
  type BanList,
  type Challenges,
  type Clock,
  type Counter,
  type CrawlerAnswers,
  type CrawlerVerifier,
  createCrawlerAnswers,
  createInspector,
  createLookup,
  createNameTurns,
  createReverseNames,
  type Inspector,
  type LookupResult,
  type NamedList,
  type Observe,
  type PendingCrawlers,
  type Policy,
  type Snapshots,
  type SourceStatus,
  type UsageTable,
  type Whois,
} from '@sallyport/core'
import type { Accounts } from '#accounts'
import { type Api, type ApiServices, createApi, ROUTES, withCors } from '#api'
import { createUpdates, openLiveData, type Updates } from '#datasets'
import { createMetrics, type Metrics } from '#metrics'
import type { TallyKeeper } from '#tally'
import { createKeyring, type Keyring } from './accounts/keyring.ts'
import { openAccountStore, openStores, unreachable } from './accounts/stores.ts'
import { openAgents, type PublishedKeys } from './agents.ts'
import { openProvenance, type Provenance } from './attestation/provenance.ts'
import { createServiceBans } from './bans/service-bans.ts'
import { openChallenges } from './challenge/open-challenges.ts'
import { parseConfig } from './config/read.ts'
import type { Config, ConfigInput } from './config/schema.ts'
import type { Reloaded } from './config/take-over.ts'
import { createCounting, liftBan, openBanList } from './counting.ts'
import { openCrawlers } from './crawlers.ts'
import { DATA_LOCK, inDataDir } from './data-dir.ts'
import { createDisposeStack, type DisposeStack } from './dispose-stack.ts'
import { guarded, type OpenHooks, sayOnStderr, saysCompiling } from './hooks.ts'
import { listNames } from './lists/read-lists.ts'
import type { OnTurned } from './load/load-meter.ts'
import type { MeasuredLoad } from './load/measured-load.ts'
import { type DecisionLog, openLog } from './log.ts'
import { countedDns, countedWhois, measure } from './measures.ts'
import { openNotifier } from './notifier.ts'
import type { Notifier } from './notify/event.ts'
import { createOverrides, type Overrides, openObservations } from './observations.ts'
import { observers } from './observers.ts'
import { createOutbound } from './outbound.ts'
import { referencePage } from './reference-page.ts'
import type { RefusalPage } from './refusal-page.ts'
import { createReloadable, type Deciders, extend, type Others, rulesOf } from './reload.ts'
import { createSiteTexts, type SitePart } from './robots.ts'
import type { SiteRobots } from './site-robots.ts'
import { openTracer, traced } from './spans.ts'
import { openSurroundings } from './surroundings.ts'
import { openTally } from './tally.ts'
import { createWhoisOf } from './whois.ts'
import { dnsWithTimeout, whoisWithTimeout } from './with-timeout.ts'

/** Sources of a service's answers, for programs that show them. */
export interface Knowledge {
  /** The data in use; each is immutable. */
  readonly snapshots: Snapshots
  readonly catalogue: CrawlerVerifier['catalogue']
  readonly crawlers: CrawlerAnswers
  readonly whois: Whois
}

/** One Sallyport: inspection, `/v1` and the data behind them. Two in one process share nothing. */
export interface Sallyport extends Inspector, Counter, Deciders, PendingCrawlers, OpenAccounts, OpenOverrides {
  /** The whole of `/v1`; adapters mount it. */
  readonly api: Api
  /** The configuration in force, with every default filled in. */
  // For customers without `strict`, every key of what zod infers is optional, and adapters take whole rules (D182).
  readonly config: Config & { readonly policy: Policy }
  /**
   * Takes over another configuration: policy, mode, trust and what an adapter or the proxy reads of `config`. Rejects
   * with `invalid_config` or `invalid_policy`, and then nothing has changed. `others`: parts of the host that are taken over
   * with it, made from the configuration as it will be; where that rejects, nothing has changed either.
   */
  reload(options: ConfigInput, others?: Others): Promise<Reloaded>
  /**
   * Facts about an address, a range, a hostname or a URL; a name may take seconds. Rejects with `invalid_target` and
   * `unresolved_target`.
   */
  lookup(target: string): Promise<LookupResult>
  /** The robots.txt of the policy in force; `parts`: where other rules decide. Throws `invalid_config` and `invalid_policy`. */
  robots(parts?: readonly SitePart[]): string
  /** The fields about the use of content that answers have, by path; `undefined` where the configuration names none. */
  usage(parts?: readonly SitePart[]): UsageTable | undefined
  /**
   * HTML of links to `decoys.paths` that no person sees, focuses or hears, for any place of a page's body; empty where there
   * are none.
   */
  decoyLink(): string
  /** Texts for refused visitors; adapters and the proxy read it. */
  readonly refusalPage: RefusalPage
  /** A prom-client registry of its own, for `Registry.merge` with a host's. */
  metrics(): Metrics['registry']
  /** Counters that adapters and the proxy use beside what they observe. */
  readonly meter: Metrics
  /** Receives every request when its answer has ended; adapters and the proxy call it. */
  readonly observe: Observe
  readonly log: DecisionLog
  /** Receives events that its operator is notified of; the proxy and the command raise theirs here. */
  readonly notifier: Notifier
  /** Attestation; `provenance.attestDecision` is what the adapters' `provenance` option calls. */
  readonly provenance: Provenance
  /** The load that rules read; the proxy adds its own, and workers that of the others. */
  readonly load: MeasuredLoad
  /** The robots.txt of sites that rules read; the proxy hands over those of its origins. */
  readonly siteRobots: SiteRobots
  /** Challenges and their passes; adapters and the proxy use them. */
  readonly challenges: Challenges
  /** The clients that are refused for a while. */
  readonly bans: BanList
  /** Addresses and networks whose bans others may carry out too. */
  exportedBans(): Promise<readonly string[]>
  /** Sources of its answers. */
  readonly knowledge: Knowledge
  /** The data sets in use. */
  sources(): readonly SourceStatus[]
  /** The lists of the configuration in force by their names, as rules ask them. */
  lists(): ReadonlyMap<string, NamedList>
  /** Closes files and stores; requests after it are still inspected, keyed routes answer 503. */
  close(): Promise<void>
}

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
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/open.md
 */
export function open(options: ConfigInput = {}, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openSimulated([], options, hooks)
}

/** The same with keys that count as published by agents: for the demo, `simulate` and tests, and not for customers (D351). */
export async function openSimulated(
  published: readonly PublishedKeys[],
  options: ConfigInput,
  hooks: OpenHooks = {},
): Promise<Sallyport> {
  const config = parseConfig(options)
  // Faults of the rules are said before anything is opened.
  rulesOf(config, { lists: listNames(config) })
  const resources = createDisposeStack()
  try {
    return await inDataDir(config, () => build(config, { ...hooks, published }, resources))
  } catch (error) {
    // The error of the opening is the one to report.
    await resources.dispose().catch(() => {})
    throw error
  }
}

/** The resolver's share of the four seconds that a lookup of a hostname may take. */
const LOOKUP_DNS_MS = 3_000

interface BuildHooks extends OpenHooks {
  readonly published: readonly PublishedKeys[]
}

async function build(config: Config, hooks: BuildHooks, resources: DisposeStack): Promise<Sallyport> {
  const { onNotice: notice = sayOnStderr } = hooks
  const onFault = guarded(hooks.onFault ?? ((error) => notice('SALLYPORT_FAULT', String(error))))
  const clock = hooks.clock ?? SYSTEM_CLOCK
  const isTrial = hooks.clock !== undefined
  const metrics = createMetrics(clock.now)
  const outbound = createOutbound(config, { dns: hooks.dns, counted: (dns) => countedDns(dns, metrics) })
  const notifier = await resources.use(openNotifier(config, { clock, outbound, metrics, hooks, notice }))
  const log = await resources.use(openLog(config, onFault))
  const observations = await resources.use(openObservations(config, clock))
  const dataHooks = { ...hooks, onProgress: hooks.onProgress ?? saysCompiling(notice) }
  const dataPorts = { notice, onFault, clock, outbound: outbound.feeds, lock: DATA_LOCK, observations }
  const { snapshots, bootstrapFile } = await resources.use(openLiveData(config, { ...dataPorts, hooks: dataHooks }))
  const whois = countedWhois(createWhoisOf(config, { clock, outbound, bootstrapFile }), metrics)
  const { accounts, onKeyUsed } = await resources.use(openStores(config, onFault))
  const ledgerPorts = { clock, onFault, onKeyMade: keyNotice(notice), raise: notifier.raise }
  const provenance = await resources.use(openProvenance(config, { ...ledgerPorts, snapshots }))
  const turns = createNameTurns()
  const crawlers = await resources.use(openCrawlers(config, { clock, onFault, dns: outbound.oneTry, turns, snapshots }))
  const agents = { clock, outbound: outbound.fetch, published: hooks.published }
  const { signatures } = openAgents(config, crawlers.verifier, agents)
  const reverseNames = config.dns.reverseNames
    ? await resources.use(createReverseNames({ clock, dns: outbound.dns, store: observations, turns, onFault }))
    : undefined
  const patient = { dns: dnsWithTimeout(outbound.dns, LOOKUP_DNS_MS), whois: whoisWithTimeout(whois) }
  const lookup = createLookup({ clock, snapshots, turns, ...patient })
  const counting = await resources.use(
    createCounting(config, { clock, onFault, onBanned: (...made) => banned(...made) }),
  )
  const surroundings = await resources.use(
    openSurroundings(config, { outbound, notice, onFault, isTrial, onLoadTurned: loadLogged(log) }),
  )
  const frontEnds = () => snapshots.current().frontEnds
  const rules = rulesOf(config, surroundings.current(), frontEnds)
  await counting.prepare(rules)
  const asking = { clock, onFault, outbound, hooks, counts: counting.calls, host: () => inspection }
  const challenges = openChallenges(config, asking)
  const tracer = await openTracer()
  const parts = {
    clock,
    snapshots,
    signatures,
    onFault,
    crawlers: crawlers.verifier,
    passOf: challenges.passOf,
    ...(reverseNames === undefined ? {} : { onClassified: reverseNames.offer }),
    onForwardedUntrusted: () => notice('SALLYPORT_FORWARDED_UNTRUSTED', FORWARDED_UNTRUSTED),
  }
  const inspection = createReloadable(config, rules, {
    createInspector: (rules) => traced(createInspector({ ...rules, ...parts }), tracer),
    counterOf: counting.counterOf,
    prepare: counting.prepare,
    prepareLog: log.prepare,
    prepareNotifier: notifier.prepare,
    published: frontEnds,
    surroundings: surroundings.current,
    surround: surroundings.surround,
  })
  const { onBanned: banned, list: exportedBans } = createServiceBans({ log, notifier, inspection, bans: counting.bans })
  const { robots } = surroundings.current()
  const tally = await resources.use(openTally(config, { clock, onFault, isTrial, robots }))
  const answers = createCrawlerAnswers(crawlers.verifier, { clock, snapshots })
  const api = apiOf(config, {
    clock,
    lookup,
    whois,
    snapshots,
    accounts,
    provenance,
    counts: counting.calls,
    crawlers: answers,
    nameTurns: turns,
    ipv6Prefix: config.limits.ipv6Prefix,
    client: inspection.client,
    check: inspection.check,
    onChecked: log.onChecked,
    onKeyUsed,
    onError: onFault,
  })
  const sources = () => [...snapshots.current().sources, ...surroundings.sources]
  measure(metrics, { clock, sources, load: surroundings.load, provenance, bans: counting.bans, inspection, log })
  notifier.watch(sources)
  return extend(inspection, {
    reload: turning(inspection, tally),
    observe: observers(metrics, tally, log.observe, notifier.observe, hooks.observe),
    log,
    notifier,
    meter: metrics,
    metrics: () => metrics.registry,
    api,
    settle: crawlers.settle,
    accounts,
    keyring: createKeyring(accounts, clock),
    overrides: createOverrides(observations, clock),
    lookup: lookup.lookup,
    ...createSiteTexts(() => inspection.config),
    provenance,
    challenges,
    bans: counting.bans,
    exportedBans,
    knowledge: { snapshots, whois, crawlers: answers, catalogue: crawlers.verifier.catalogue },
    sources,
    lists: () => surroundings.current().lists,
    load: surroundings.load,
    siteRobots: surroundings.siteRobots,
    close: resources.dispose,
  })
}

function loadLogged({ audit }: DecisionLog): OnTurned {
  return ({ on, ...details }) => audit({ what: on ? 'load on' : 'load off', who: 'service', details })
}

/** A reload that the tally learns of. */
function turning(inspection: Pick<Sallyport, 'reload' | 'config'>, tally: Pick<TallyKeeper, 'turn'>) {
  return async (options: ConfigInput, others?: Others): Promise<Reloaded> => {
    const reloaded = await inspection.reload(options, others)
    tally.turn(inspection.config, reloaded.changed)
    return reloaded
  }
}

/** The API of a configuration: with or without the reference, and for pages of which sites. */
function apiOf({ api: { docs, cors } }: Config, services: ApiServices): Api {
  const routes = docs ? ROUTES : ROUTES.filter(({ operationId }) => operationId !== 'docs')
  return withCors(createApi({ ...services, reference: referencePage }, routes), cors)
}

/** The operator's overrides alone: no data is loaded or compiled. */
export interface OpenOverrides {
  readonly overrides: Overrides
  close(): Promise<void>
}

/** Opens the overrides of a configuration's dataDir; a running process sees the changes. */
export async function openOverrides(options: ConfigInput = {}): Promise<OpenOverrides> {
  const config = parseConfig(options)
  const observations = await inDataDir(config, () => openObservations(config, SYSTEM_CLOCK))
  return {
    overrides: createOverrides(observations, SYSTEM_CLOCK),
    async close() {
      observations.close()
    },
  }
}

/** Accounts and keys alone: no data is loaded or compiled. */
export interface OpenAccounts {
  readonly accounts: Accounts
  readonly keyring: Keyring
  close(): Promise<void>
}

/** The bans alone: no data is loaded or compiled. */
export interface OpenBans {
  readonly bans: BanList
  /** Rejects with `unknown_ban` where there is none of this id. */
  lift(id: string): Promise<void>
  close(): Promise<void>
}

/** Opens the bans of a configuration; running processes see what is lifted. Rejects with `service_unavailable`. */
export async function openBans(options: ConfigInput = {}): Promise<OpenBans> {
  const bans = await openBanList(parseConfig(options), (error) => {
    throw unreachable(error)
  })
  return { bans, lift: (id) => liftBan(bans, id), close: bans.close }
}

/** Opens the feeds of a configuration alone, to update them or to roll back. Throws `invalid_config`. */
export function openUpdates(options: ConfigInput = {}): Updates {
  const config = parseConfig(options)
  const { feeds } = createOutbound(config)
  const updates = createUpdates(config, { clock: SYSTEM_CLOCK, outbound: feeds, lock: DATA_LOCK })
  return {
    update: (request) => inDataDir(config, () => updates.update(request)),
    rollBack: (source) => inDataDir(config, () => updates.rollBack(source)),
  }
}

/**
 * Opens the account store of a configuration alone. Rejects with `service_unavailable` where it cannot be reached.
 */
export async function openAccounts(options: ConfigInput = {}): Promise<OpenAccounts> {
  const config = parseConfig(options)
  const openStore = () =>
    openAccountStore(config, (error) => {
      throw unreachable(error)
    })
  const accounts = await (config.store === undefined ? inDataDir(config, openStore) : openStore())
  return { accounts, keyring: createKeyring(accounts, SYSTEM_CLOCK), close: accounts.close }
}

const SYSTEM_CLOCK: Clock = { now: () => Date.now() }

const FORWARDED_UNTRUSTED =
  'Requests carry forwarding headers and no proxy is trusted, so every visitor is judged by the address of the socket. ' +
  'If a proxy of yours stands in front, name it in trustProxy.'

const SIGNING_KEY_MADE =
  'was made: it signs checkpoints and evidence of the ledger. Keep a copy of it, and hand out its public half from ' +
  'GET /v1/provenance/keys.'

function keyNotice(notice: NonNullable<OpenHooks['onNotice']>): (file: string) => void {
  return (file) => notice('SALLYPORT_SIGNING_KEY_MADE', `${file} ${SIGNING_KEY_MADE}`)
}
