import type {
  BanList,
  createHandoffSigner,
  Decision,
  HandoffKey,
  InspectionRequest,
  SourceStatus,
} from '@sallyport/core'
import type { ApiResponse, AuditEntry, RaiseEvent, RobotsSource, SitePart } from '@sallyport/engine'
import type { Metrics } from '@sallyport/engine/metrics'
import type { ApiHost, Decider } from '@sallyport/node'
import type { Exchange } from '../exchange/exchange.ts'
import type { createRequestTable } from '../fields/request-fields.ts'
import type { HandedFields } from '../origin/handed-fields.ts'
import type { Admission } from './admission.ts'
import type { ForwardAuth } from './forward-auth.ts'
import type { Site, Sites } from './sites.ts'

/** A Sallyport, as far as the proxy needs it. */
export interface ProxyHost extends Decider, ApiHost {
  /** Lists the data in use, which /sources shows and /readyz checks. */
  sources(): readonly SourceStatus[]
  /** Records operators' actions. */
  readonly log?: { audit(entry: AuditEntry): void } | undefined
  /** Takes an event that the operator may want to know of at once. */
  readonly raise?: RaiseEvent | undefined
  /** Takes the function that reads the load of the proxy, for rules about load. */
  readonly load?: { read(source: () => number): void } | undefined
  /** Takes the robots.txt of the origins, for rules about it. */
  readonly siteRobots?: { read(source: RobotsSource): void } | undefined
  /** Counts what the proxy does; absent: nothing is counted, and there is no /metrics. */
  readonly meter?: Metrics | undefined
  /** Writes the robots.txt of the policy, with the parts that other rules decide about; absent: none is served. */
  readonly robots?: ((parts: readonly SitePart[]) => string) | undefined
  /** Writes HTML of hidden links to the decoys; absent: there are none. */
  readonly decoyLink?: (() => string) | undefined
  /** Lists the clients that are refused for a while; absent: no client is. */
  readonly bans?: BanList | undefined
  /** Lists addresses and networks whose bans other systems may enforce too; absent: none are listed. */
  readonly exportedBans?: (() => Promise<readonly string[]>) | undefined
  /** Judges account events that arrive at the admin listener; absent: the listener takes none. */
  readonly accounts?: { readonly assessDescribed: (body: unknown) => Promise<object> } | undefined
}

export interface GateOptions {
  /** Whether /v1 is answered here, and under which base; default: at the root. */
  readonly api?: { readonly enabled?: boolean | undefined; readonly base?: string | undefined } | undefined
  /** Whether paths that servers read in several ways are refused; default: `strict`. */
  readonly paths?: 'strict' | 'pass' | undefined
  /** Lists methods that are served beside `METHODS`. */
  readonly methods?: readonly string[] | undefined
  /** Names the header in which trusted proxies name the client; the header is not forwarded. */
  readonly clientHeader?: string | undefined
  /** Names the header in which trusted proxies name the client's JA4; the header is forwarded where it is believed. */
  readonly ja4Header?: string | undefined
  /** Names the kind of server that may ask at `/.sallyport/check`; absent or `false`: none may. */
  readonly forwardAuth?: ForwardAuth | false | undefined
  /** Lists keys, of which the first signs what goes to the origin; absent or empty: nothing is signed. */
  readonly handoff?: { readonly keys?: readonly HandoffKey[] | undefined } | undefined
  /** Whether /robots.txt is answered here. */
  readonly robots?: { readonly serve?: boolean | undefined } | undefined
  /** Returns the port to which requests without TLS are redirected; absent: they are served. */
  readonly httpsPort?: (() => number) | undefined
  /** Returns the answer to an authority's certificate challenge, by its target; requested without TLS. */
  readonly acmeAnswer?: ((target: string) => string | undefined) | undefined
  /** Sets `Strict-Transport-Security` in every answer over TLS (RFC 6797). */
  readonly hsts?: string | undefined
  /** Called for every decided request, before it is refused or forwarded. */
  readonly onDecision?: ((decision: Decision, request: InspectionRequest) => void) | undefined
  /** Called with the reason when a check of another server is refused. */
  readonly onDenied?: ((why: string) => void) | undefined
  /** Takes a line of text, which the operator should read. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** Called for a bug; the client gets 500 without details. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** Parts that the phases of all requests share. */
export interface GateServices {
  readonly host: ProxyHost
  readonly options: GateOptions
  readonly admission: Admission
  /** Limits a body, in bytes. */
  readonly bodyBytes: number
  /** Reports overload; a request that waited that long for its turn is a sign of it as well. */
  readonly isOverloaded: (waitedMs: number) => boolean
  readonly sites: Sites
  /** Lists the methods that are served. */
  readonly methods: readonly string[]
  /** Answers robots.txt; `undefined`: the origin answers. */
  readonly robots: (exchange: Exchange) => ApiResponse | undefined
  readonly table: ReturnType<typeof createRequestTable>
  /** Signs what goes to the origin; absent: nothing is signed. */
  readonly handoff: ReturnType<typeof createHandoffSigner>
  /** Sends the request of an exchange to an origin of its site. */
  readonly forward: (exchange: Exchange, handed: Omit<HandedFields, 'ownHost'>, site: Site) => void
}
