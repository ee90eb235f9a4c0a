import type { CrawlerOutcome, CrawlerPurpose, InspectionDegraded } from '../vocabulary.ts'
import type { AgentVerdict } from './agent-verdict.ts'
import type { InspectedPass } from './challenge.ts'
import type { InspectedCountry } from './country.ts'
import type { NetworkFinding } from './finding.ts'

/** The resolved client: the address after trusted proxies, and how it was found. */
export interface InspectedClient {
  /** Canonical text (RFC 5952); '' when no address could be found, and then nothing is known of the network. */
  readonly address: string
  /** `peer`: the socket. `header`: the configured header, from a trusted peer. `none`: neither could be read. */
  readonly via: 'peer' | 'header' | 'none'
  /** An element of the header could not be read; the walk stopped at the last good hop. */
  readonly malformed: boolean
  /** True where the client is a trusted proxy that asks for itself, as health checks do: nothing says that it forwards. */
  readonly isProxy?: true | undefined
}

/** The crawler that a request's user agent claims to be, and what came of the claim. */
export interface InspectedCrawler {
  readonly slug: string
  readonly name: string
  readonly operator: string
  readonly purpose: CrawlerPurpose
  readonly outcome: CrawlerOutcome
  /** The checks that decided, by their names; absent when none did. */
  readonly method?: string | undefined
  /**
   * There, and true, where the outcome is `unverifiable` and the request comes from a system that the operator does not send
   * this crawler from. Rules match it as an impostor.
   */
  readonly forged?: true | undefined
  /** True at the first sight of an address: DNS is asked in the background, and the next request has the outcome. */
  readonly pending: boolean
  /** One sentence for a person. */
  readonly summary: string
}

/** Everything known about one request, frozen and JSON-serialisable. */
export interface Inspection {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly peer: string
  readonly client: InspectedClient
  readonly request: {
    readonly method: string
    /** Canonical path: what a policy's rules are matched against. */
    readonly path: string
    /**
     * Every path that an origin may take the target for, where that is more than one; empty for too many to look at. Rules
     * that flag or block match any of them, rules that allow only all of them.
     */
    readonly readings?: readonly string[] | undefined
  }
  readonly network: NetworkFinding
  /** Country of the client's address, two letters; absent when unknown. */
  readonly country?: string | undefined
  /** The source of `country`; absent with it. */
  readonly countryFrom?: InspectedCountry | undefined
  /** There, and true, where tables of countries are loaded and none has the address; else an unknown country was not looked up. */
  readonly countryUnknown?: true | undefined
  /** The crawler that the user agent claims to be; absent when it names none. */
  readonly crawler?: InspectedCrawler | undefined
  /** The agent's class, and the reasons for it. */
  readonly agent: AgentVerdict
  readonly degraded: readonly InspectionDegraded[]
  /** The visitor as the application identifies it: id and plan; absent where it does not. */
  readonly user?: string | undefined
  readonly plan?: string | undefined
  /** JA4 of its connection, where TLS ends in this process. */
  readonly ja4?: string | undefined
  /** The pass of the request, from a challenge that was solved. */
  readonly pass?: InspectedPass | undefined
}
