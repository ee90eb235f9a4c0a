import type {
  Address,
  BanList,
  Challenges,
  Counter,
  CrawlerAnswers,
  CrawlerVerifier,
  InspectedRegion,
  Inspector,
  LookupResult,
  NamedList,
  NetworkFinding,
  Observe,
  PendingCrawlers,
  Policy,
  Snapshots,
  SourceStatus,
  Whois,
} from '@sallyport/core'
import type { Accounts } from '#accounts'
import type { Api } from '#api'
import type { Provenance } from '#attestation'
import type { Config, ConfigInput, Reloaded } from '#config'
import type { ServiceBehaviour } from '#features/behaviour'
import type { Crawls } from '#features/crawls'
import type { AccountProtection, DecisionKeeper, Described } from '#features/logins'
import type { Payments } from '#features/payments'
import type { SiteRobots } from '#features/robots'
import type { Metrics } from '#metrics'
import type {
  DecisionLog,
  FindDirectory,
  Keyring,
  MeasuredLoad,
  Overrides,
  RaiseEvent,
  RefusalPage,
  VerifyField,
} from '#service'
import type { Deciders, Others } from './reload.ts'
import type { SitePart } from './robots.ts'

/** Sources of a service's answers, for programs that display them. */
export interface Knowledge {
  /** Holds the data in use; each snapshot is immutable. */
  readonly snapshots: Snapshots
  /** Finds the region of an address even if no rule needs regions; the first call opens the places of city files. */
  findRegion(address: Address, network: NetworkFinding): Promise<InspectedRegion | undefined>
  readonly catalogue: CrawlerVerifier['catalogue']
  readonly crawlers: CrawlerAnswers
  readonly whois: Whois
}

/** Runs inspection, `/v1` and the data behind them. Two instances in one process share nothing. */
export interface Sallyport extends Inspector, Counter, Deciders, PendingCrawlers, OpenAccounts, OpenOverrides {
  /** Keeps the accounts of `/v1`, and guards those of the application. */
  readonly accounts: Accounts & AccountProtection & DecisionKeeper & Described
  /** Answers all of `/v1`; adapters mount it. */
  readonly api: Api
  /** The configuration in force, with every default filled in. */
  // For customers without `strict`, every key of what zod infers is optional, and adapters take whole rules.
  readonly config: Config & { readonly policy: Policy }
  /**
   * Replaces the configuration: policy, mode, trust and what an adapter or the proxy reads of `config`. Rejects with `invalid_config` or
   * `invalid_policy`, and then nothing has changed. `others` prepares parts of the host from the new configuration; if it rejects, nothing
   * has changed either.
   */
  reload(options: ConfigInput, others?: Others): Promise<Reloaded>
  /** Finds facts about an address, range, hostname or URL; a name may take seconds. Rejects with `invalid_target` and `unresolved_target`. */
  lookup(target: string): Promise<LookupResult>
  /** Returns the robots.txt of the policy in force; `parts` are paths with other rules. Throws `invalid_policy`. */
  robots(parts?: readonly SitePart[]): string
  /** Finds the directory of agent keys for a request at their origin; adapters serve it. Throws `invalid_config` for a malformed file. */
  readonly keyDirectory: FindDirectory
  /** Returns HTML with links to `decoys.paths`, which visitors cannot see, focus or hear, for any place in a body; '' without decoys. */
  decoyLink(): string
  /** Texts for refused visitors; adapters and the proxy read it. */
  readonly refusalPage: RefusalPage
  /** Returns its own prom-client registry, for `Registry.merge` with a host's. */
  metrics(): Metrics['registry']
  /** Counts what adapters and the proxy report besides `observe`. */
  readonly meter: Metrics
  /** Receives every request when its response has ended; adapters and the proxy call it. */
  readonly observe: Observe
  /** Hands ended requests to log, tally and console, which read them in batches; reading metrics does so first. */
  drain(): void
  readonly log: DecisionLog
  /** Takes an event that the operator may want to know of; the proxy and the command report their events here. */
  readonly raise: RaiseEvent
  /** Attestation; `provenance.attestDecision` is what the adapters' `provenance` option calls. */
  readonly provenance: Provenance
  /** The load that rules read; the proxy adds its own, and workers add the load of other workers. */
  readonly load: MeasuredLoad
  /** The robots.txt of sites that rules read; the proxy provides those of its origins. */
  readonly siteRobots: SiteRobots
  /** Challenges and their passes; adapters and the proxy use them. */
  readonly challenges: Challenges
  /** Checks the token of a form with the field of Sallyport. */
  readonly verifyField: VerifyField
  /** Takes clients' receipts for what rules offer; adapters and the proxy use it. */
  readonly payments: Payments
  /** Keeps what visitors do, as evidence; workers share it. */
  readonly behaviour: ServiceBehaviour
  /** Joins the records of crawling of several workers; absent if none are kept. */
  readonly crawls?: Pick<Crawls, 'share' | 'take'> | undefined
  /** Lists the clients that are banned at present. */
  readonly bans: BanList
  /** Lists addresses and networks whose bans other systems may enforce too. */
  exportedBans(): Promise<readonly string[]>
  /** Holds the sources of its answers. */
  readonly knowledge: Knowledge
  /** Lists the data sets in use. */
  sources(): readonly SourceStatus[]
  /** Returns the lists of the configuration in force by name, as rules read them. */
  lists(): ReadonlyMap<string, NamedList>
  /** Closes files and stores; later requests are still inspected, and routes that require a key answer 503. */
  close(): Promise<void>
}

/** Opens the operator's overrides alone: no data is loaded or compiled. */
export interface OpenOverrides {
  readonly overrides: Overrides
  close(): Promise<void>
}

/** Opens accounts and keys alone: no data is loaded or compiled. */
export interface OpenAccounts {
  readonly accounts: Accounts
  readonly keyring: Keyring
  close(): Promise<void>
}
