import type { CrawlerOutcome, CrawlerPurpose, InspectionDegraded } from '../vocabulary.ts'
import type { InspectedEvent } from './account-event.ts'
import type { AgentVerdict } from './agent-verdict.ts'
import type { InspectedBehaviour } from './behaviour.ts'
import type { InspectedPass } from './challenge.ts'
import type { InspectedCountry } from './country.ts'
import type { DatedSource, NetworkFinding } from './finding.ts'
import type { InspectedRegion } from './region.ts'
import type { InspectionRequest } from './request.ts'

/** Describes the resolved client: the address after trusted proxies, and how it was found. */
export interface InspectedClient {
  /** Canonical text (RFC 5952); '' when no address could be found, and then nothing is known of the network. */
  readonly address: string
  /** `peer`: the socket. `header`: the configured header, from a trusted peer. `none`: neither could be read. */
  readonly via: 'peer' | 'header' | 'none'
  /** An element of the header was unreadable; the walk stopped at the last good hop. */
  readonly malformed: boolean
  /** True where a trusted proxy itself is the client, as in health checks: no header says that it forwards. */
  readonly isProxy?: true | undefined
}

/** Names the crawler that a request's user agent claims to be, and the outcome of the claim. */
export interface InspectedCrawler {
  readonly slug: string
  readonly name: string
  readonly operator: string
  readonly purpose: CrawlerPurpose
  readonly outcome: CrawlerOutcome
  /** Names the checks that decided; absent when none did. */
  readonly method?: string | undefined
  /** The age of the list that verified it leaves this share, 0 to 1, and names that list; absent where no list did. */
  readonly kept?: number | undefined
  readonly oldest?: DatedSource | undefined
  /**
   * True where the outcome is `unverifiable` and the request comes from a system that the operator does not send this crawler from. Rules
   * match it as an impostor. Absent elsewhere.
   */
  readonly forged?: true | undefined
  /** True at the first request of an address: DNS is asked in the background, and the next request has the outcome. */
  readonly pending: boolean
  /** Explains the outcome in one sentence for a person. */
  readonly summary: string
}

/** Holds everything known about one request, frozen and JSON-serialisable. */
export interface Inspection extends Pick<InspectionRequest, 'user' | 'plan' | 'ja4' | 'ja4Header' | 'mcp'> {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly peer: string
  readonly client: InspectedClient
  readonly request: {
    readonly method: string
    /** Rules of the policy are matched against this canonical path. */
    readonly path: string
    /**
     * Lists every path that an origin may read from the target, where there is more than one; empty where there are too many. Rules that
     * flag or block match any of them, rules that allow only all of them.
     */
    readonly readings?: readonly string[] | undefined
  }
  readonly network: NetworkFinding
  /** Two letters name the country of the client's address; absent when unknown. */
  readonly country?: string | undefined
  /** Names the source of `country`; absent with it. */
  readonly countryFrom?: InspectedCountry | undefined
  /** True where tables of countries are loaded and none has the address; absent where an unknown country was not looked up. */
  readonly countryUnknown?: true | undefined
  /** The region of the client's address, or why it is not known; absent where no rule asks for regions. */
  readonly region?: InspectedRegion | undefined
  readonly crawler?: InspectedCrawler | undefined
  /** The oldest source that the inspection rests on, and the day on which it was last known to be true; absent when nothing says so. */
  readonly oldest?: DatedSource | undefined
  readonly agent: AgentVerdict
  readonly behaviour?: InspectedBehaviour | undefined
  readonly degraded: readonly InspectionDegraded[]
  readonly pass?: InspectedPass | undefined
  /** Describes the event of a user's account that is judged; absent for a request alone. */
  readonly event?: InspectedEvent | undefined
}
