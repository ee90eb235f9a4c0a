import type {
  BanList,
  Challenges,
  Counter,
  CrawlerAnswers,
  CrawlerVerifier,
  Inspector,
  LookupResult,
  NamedList,
  Observe,
  PendingCrawlers,
  Policy,
  Snapshots,
  SourceStatus,
  UsageTable,
  Whois,
} from '@sallyport/core'
import type { Accounts } from '#accounts'
import type { Api } from '#api'
import type { Provenance } from '#attestation'
import type { Config, ConfigInput, Reloaded } from '#config'
import type { SiteRobots } from '#features/robots'
import type { Metrics } from '#metrics'
import type { DecisionLog, Keyring, MeasuredLoad, Overrides, RaiseEvent, RefusalPage } from '#service'
import type { Deciders, Others } from './reload.ts'
import type { SitePart } from './robots.ts'

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
  // For customers without `strict`, every key of what zod infers is optional, and adapters take whole rules.
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
  /** Hands the requests that have ended to log, tally and console, which read them in batches; a read of metrics does so first. */
  drain(): void
  readonly log: DecisionLog
  /** Takes an event that the operator may want to know of; the proxy and the command raise theirs here. */
  readonly raise: RaiseEvent
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

/** The operator's overrides alone: no data is loaded or compiled. */
export interface OpenOverrides {
  readonly overrides: Overrides
  close(): Promise<void>
}

/** Accounts and keys alone: no data is loaded or compiled. */
export interface OpenAccounts {
  readonly accounts: Accounts
  readonly keyring: Keyring
  close(): Promise<void>
}
