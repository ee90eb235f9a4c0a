import type {
  BanList,
  createHandoffSigner,
  Decision,
  HandoffKey,
  InspectionRequest,
  SourceStatus,
} from '@sallyport/core'
import type { RaiseEvent, RobotsSource, SitePart } from '@sallyport/engine'
import type { Metrics } from '@sallyport/engine/metrics'
import type { ApiHost, Decider } from '@sallyport/node'
import type { Admission } from '../bounds/admission.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { HandedFields } from '../origin/own-host.ts'
import type { ForwardAuth } from './forward-auth.ts'
import type { Route, Site, Sites } from './sites.ts'

/** Takes what an operator did: what, who, and its details. */
export interface AuditLog {
  audit(entry: {
    readonly what: string
    readonly who: string
    readonly details: Readonly<Record<string, unknown>>
  }): void
}

/** The part of a Sallyport that the proxy uses. */
export interface ProxyHost extends Decider, ApiHost {
  /** The data in use: shown at /sources, and looked at by /readyz. */
  sources(): readonly SourceStatus[]
  /** Log of operators' actions. */
  readonly log?: AuditLog | undefined
  /** Takes what the operator may want to know of at once. */
  readonly raise?: RaiseEvent | undefined
  /** Takes what reads the load of the proxy, for rules that ask for it. */
  readonly load?: { read(source: () => number): void } | undefined
  /** Takes the robots.txt of its origins, for rules that ask for it. */
  readonly siteRobots?: { read(source: RobotsSource): void } | undefined
  /** Counters of the proxy; absent: nothing is counted, and there is no /metrics. */
  readonly meter?: Metrics | undefined
  /** The robots.txt of its policy, with parts that other rules decide about; absent: none is served. */
  readonly robots?: ((parts: readonly SitePart[]) => string) | undefined
  /** HTML of hidden links to its decoys; absent: it has none. */
  readonly decoyLink?: (() => string) | undefined
  /** The clients that are refused for a while; absent: none ever is. */
  readonly bans?: BanList | undefined
  /** Addresses and networks whose bans others may carry out too; absent: none are listed. */
  readonly exportedBans?: (() => Promise<readonly string[]>) | undefined
}

export interface GateOptions {
  /** Whether /v1 is answered here, and under which base; default at the root. */
  readonly api?: { readonly enabled?: boolean | undefined; readonly base?: string | undefined } | undefined
  /** Whether paths that servers read in several ways are refused; default `strict`. */
  readonly paths?: 'strict' | 'pass' | undefined
  /** Methods that are served beside those of `METHODS`. */
  readonly methods?: readonly string[] | undefined
  /** The header in which trusted proxies name the client; it is not forwarded. */
  readonly clientHeader?: string | undefined
  /** The server that may ask at `/.sallyport/check`, and in whose way; absent or `false`: none. */
  readonly forwardAuth?: ForwardAuth | false | undefined
  /** Keys of which the first signs what goes to the origin; absent or empty: nothing is signed. */
  readonly handoff?: { readonly keys?: readonly HandoffKey[] | undefined } | undefined
  /** Whether /robots.txt is answered here. */
  readonly robots?: { readonly serve?: boolean | undefined } | undefined
  /** The port to which requests that come without TLS are sent; absent: they are served. */
  readonly httpsPort?: (() => number) | undefined
  /** The answer to a challenge of an authority for certificates, by its target; asked for without TLS. */
  readonly acmeAnswer?: ((target: string) => string | undefined) | undefined
  /** `Strict-Transport-Security` of every answer over TLS (RFC 6797). */
  readonly hsts?: string | undefined
  /** Called for every decided request, before it is refused or forwarded. */
  readonly onDecision?: ((decision: Decision, request: InspectionRequest) => void) | undefined
  /** A check of another server was refused, for this reason. */
  readonly onDenied?: ((why: string) => void) | undefined
  /** A line for the operator. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** A bug: the client gets 500 without detail. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** The services that the phases of the proxy use. */
export interface GateServices {
  readonly routes: readonly Route[]
  readonly host: ProxyHost
  readonly options: GateOptions
  readonly admission: Admission
  readonly sites: Sites
  /** Signs what goes to the origin; absent: nothing is signed. */
  readonly handoff: ReturnType<typeof createHandoffSigner>
  /** Sends the request of an exchange to an origin of its site. */
  readonly forward: (exchange: Exchange, handed: Omit<HandedFields, 'ownHost'>, site: Site) => void
}
