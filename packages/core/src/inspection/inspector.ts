import { type Address, formatAddress } from '../address/address.ts'
import { type ClientTrust, isLoopback, isTrustedPeer, type ResolvedClient, resolveClient } from '../address/client.ts'
import { namedScheme } from '../address/client-scheme.ts'
import { NO_VERDICT } from '../agent/judge.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import type { PassReader } from '../challenge/pass.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import { NOTHING_KNOWN } from '../network/classify.ts'
import { rangesAreDegraded } from '../network/staleness.ts'
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts'
import type { AskedParts } from '../policy/language/asked.ts'
import { createPathReader, type RequestPath } from '../policy/paths/path-readings.ts'
import type { Clock, Snapshot, Snapshots } from '../ports/index.ts'
import type { Decision } from '../values/decision.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Writable } from '../values/members.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Degraded, Mode } from '../vocabulary.ts'
import { type AgentResult, createAgentInspector, type DescribedRequest } from './agent-inspector.ts'
import { decide, decisionOf, ruleOn } from './decide.ts'
import { type Visitor, visitorOf } from './visitor.ts'
import { createVisits, type Visit, type VisitCounts } from './visits.ts'

export interface InspectorOptions {
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly trust: ClientTrust
  readonly policy: CompiledPolicy
  readonly mode: Mode
  /** Holds claims of crawlers against what is known; absent: no claim is looked at. */
  readonly crawlers?: CrawlerVerifier | undefined
  /** Judges HTTP message signatures; absent: none is looked at. */
  readonly signatures?: SignatureVerifier | undefined
  /** Finds the pass of a request; absent: passes are not looked at. */
  readonly passOf?: PassReader | undefined
  /** Called once, when forwarding headers arrive although no proxy is trusted. */
  readonly onForwardedUntrusted?: (() => void) | undefined
  /** Called once, when a client of this machine asks although no proxy is trusted. */
  readonly onLocalClient?: (() => void) | undefined
  /** Called with the client of every request; must not wait, and must not throw. */
  readonly onClassified?: ((address: Address, finding: NetworkFinding) => void) | undefined
  /** Called with a bug in the inspection; the request is decided by the policy's `onError`. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** Policy in place of the inspector's own; absent: its own. Its allowlist holds in any case. */
export interface OtherRules {
  readonly policy?: CompiledPolicy | undefined
  readonly mode?: Mode | undefined
  /** As rules read the request, which did not come here; absent: as it came. */
  readonly asked?: AskedParts | undefined
}

/** Looks at requests, in memory, without waiting for anything. */
export interface Inspector {
  /** The client's address: from the socket, and from the one configured header where the peer is trusted. */
  client(request: InspectionRequest): ResolvedClient
  /** Whether a socket's peer is a trusted proxy. */
  isTrusted(peer: string): boolean
  /** The scheme by which the client came, as a trusted proxy names it; `undefined` where none does. */
  namedScheme(request: InspectionRequest): 'http' | 'https' | undefined
  /**
   * The header in which trusted proxies name the client, in lower case, where it holds one address: of two nothing says
   * which is forged. `undefined` where it is a list, and where no proxy is trusted.
   */
  readonly singleHeader: string | undefined
  /** All that is known of a request, without a decision. Never throws: after a fault nothing is known. */
  inspect(request: InspectionRequest): Inspection
  /** Whether a person's browser asks: it says that it is one, and the verdict is a person's. Never throws. */
  isBrowser(request: InspectionRequest): boolean
  /**
   * Inspects and applies the policy, or others in its place. Never throws at the host: a fault is data in the reasons.
   */
  decide(request: InspectionRequest, others?: OtherRules): Decision
  /**
   * The decision about a described request, which did not come here. It waits for DNS where a crawler is claimed, and
   * keeps nothing that another decision could rest on but what DNS answered.
   */
  check(address: Address, described: DescribedRequest): Promise<Decision>
  /** Requests whose visitor was remembered, and others. */
  readonly visits: VisitCounts
}

export function createInspector(options: InspectorOptions): Inspector {
  const { clock, snapshots, trust, policy, mode } = options
  const agents = createAgentInspector(options)
  const visits = createVisits(agents)
  const timestamp = createTimestamps()
  const readPath = createPathReader()
  const client = createClientReader(options)

  function look(request: InspectionRequest): Looked {
    const snapshot = snapshots.current()
    const now = clock.now()
    const at = timestamp(now)
    const path = readPath(request.target)
    const sender = client(request)
    const visit = visits.of(request, sender, snapshot, now)
    if (visit.address !== undefined) options.onClassified?.(visit.address, visit.network)
    const inspection = inspectionOf(request, path, visit, visit, {
      degraded: degradedOf(snapshot, now),
      at,
      pass: request.pass ?? options.passOf?.(request, visit.network.verdict.classification, now, visit.address),
    })
    return { visit, inspection }
  }

  function decideNow(request: InspectionRequest, others: OtherRules | undefined): Decision {
    const { visit, inspection } = look(request)
    if (others !== undefined) {
      const { id } = request
      const { asked } = others
      const options = { mode: others.mode ?? mode, request: asked ?? request, id, isDescribed: asked !== undefined }
      return decide(others.policy ?? policy, inspection, options)
    }
    const kept = visit.ruling
    if (kept !== undefined && (kept.holds === undefined || kept.holds(inspection.pass))) {
      return decisionOf(kept, inspection, request.id)
    }
    const ruling = ruleOn(policy, inspection, { mode, request })
    if (ruling.lasting && visit.fingerprint !== undefined) visits.keepRuling(visit, ruling)
    return decisionOf(ruling, inspection, request.id)
  }

  return {
    client,
    visits: visits.seen,
    isTrusted: (peer) => isTrustedPeer(peer, trust),
    namedScheme: (request) => namedScheme(request, trust),
    singleHeader: trust.empty || trust.form !== 'single' ? undefined : trust.header,
    inspect(request) {
      const fault = () => faultInspection(request, timestamp(clock.now()))
      return orElse(() => look(request).inspection, fault, options.onFault)
    },
    isBrowser(request) {
      const isHuman = () => agents.namesBrowser(request) && look(request).inspection.agent.class === 'human'
      return orElse(isHuman, () => false, options.onFault)
    },
    decide(request, others) {
      try {
        return decideNow(request, others)
      } catch (error) {
        options.onFault?.(error)
        const ruled = { policy: others?.policy ?? policy, mode: others?.mode ?? mode }
        return faultDecision(request, ruled, timestamp(clock.now()))
      }
    },
    async check(address, described) {
      const snapshot = snapshots.current()
      const now = clock.now()
      const text = formatAddress(address)
      const visitor = visitorOf({ address, via: 'peer', malformed: false }, text, snapshot)
      const result = await agents.check(described, visitor, snapshot)
      const { method = 'GET', target = '/' } = described
      const request = { peer: text, ...described, method, target }
      const inspection = inspectionOf(request, readPath(request.target), visitor, result, {
        degraded: degradedOf(snapshot, now),
        at: timestamp(described.at ?? now),
        pass: described.pass,
      })
      const { id, asked } = described
      return decide(policy, inspection, { mode, request: partsOf(described), id, isDescribed: asked !== undefined })
    },
  }
}

/** The result of work, or of `fault` where it throws. */
function orElse<T>(work: () => T, fault: () => T, onFault: InspectorOptions['onFault']): T {
  try {
    return work()
  } catch (error) {
    onFault?.(error)
    return fault()
  }
}

/** Clients of requests. Forwarding headers without a trusted proxy are reported once: a warning for each would flood a log. */
function createClientReader({ trust, onForwardedUntrusted, onLocalClient }: InspectorOptions): Inspector['client'] {
  let warned = false
  let wasLocal = !trust.empty
  return (request) => {
    const resolved = resolveClient(request, trust)
    if (resolved.forwardedUntrusted && !warned) {
      warned = true
      onForwardedUntrusted?.()
    }
    if (!wasLocal && resolved.address !== undefined && isLoopback(resolved.address)) {
      wasLocal = true
      onLocalClient?.()
    }
    return resolved
  }
}

/** A described request as rules read it. */
function partsOf({ asked, fields, target, ja4, headersKnown }: DescribedRequest): AskedParts {
  return asked ?? { fields, target, ja4, kept: headersKnown ? undefined : ['user-agent'] }
}

interface Looked {
  readonly visit: Visit
  readonly inspection: Inspection
}

/** Times as ISO 8601. Writing one takes as long as a lookup, and on a busy server many requests share a millisecond. */
function createTimestamps(): (time: number) => string {
  let last = Number.NaN
  let text = ''
  return (time) => {
    if (time !== last) {
      text = new Date(time).toISOString()
      last = time
    }
    return text
  }
}

/** All that is known of a request as one value. `at` is ISO 8601. */
function inspectionOf(
  { peer, method, user, plan, ja4 }: Pick<InspectionRequest, 'peer' | 'method' | 'user' | 'plan' | 'ja4'>,
  { path, readings }: RequestPath,
  { client, network, country, countryUnknown }: Visitor,
  { agent, crawler }: AgentResult,
  { degraded, at, pass }: Pick<Inspection, 'degraded' | 'at' | 'pass'>,
): Inspection {
  const inspection: Writable<Inspection> = {
    at,
    peer,
    client,
    request: Object.freeze(readings === undefined ? { method, path } : { method, path, readings }),
    network,
    agent,
    degraded,
  }
  if (country !== undefined) {
    inspection.country = country.code
    inspection.countryFrom = country
  }
  if (countryUnknown) inspection.countryUnknown = true
  if (crawler !== undefined) inspection.crawler = crawler
  if (user !== undefined) inspection.user = user
  if (plan !== undefined) inspection.plan = plan
  if (ja4 !== undefined) inspection.ja4 = ja4
  if (pass !== undefined) inspection.pass = pass
  return Object.freeze(inspection)
}

const NOTHING_DEGRADED: readonly Degraded[] = Object.freeze([])
const RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['ranges'])
const NETWORKS_DEGRADED: readonly Degraded[] = Object.freeze(['asn', 'ranges'])
const GEO_DEGRADED: readonly Degraded[] = Object.freeze(['geo'])
const GEO_AND_RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'ranges'])
const ALL_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'asn', 'ranges'])

/** One of few lists, each always the same object. */
function degradedOf(snapshot: Snapshot, now: number): readonly Degraded[] {
  const noPlaces = snapshot.geo === undefined || snapshot.geo.families.length === 0
  if (snapshot.networks === undefined) return noPlaces ? ALL_DEGRADED : NETWORKS_DEGRADED
  if (rangesAreDegraded(snapshot, now)) return noPlaces ? GEO_AND_RANGES_DEGRADED : RANGES_DEGRADED
  return noPlaces ? GEO_DEGRADED : NOTHING_DEGRADED
}

/** A bug in the inspection must not become the host's: classification is not authorisation, so the default is open. */
function faultDecision(
  request: InspectionRequest,
  { policy, mode }: Pick<InspectorOptions, 'policy' | 'mode'>,
  at: string,
): Decision {
  const action = policy.onError
  return Object.freeze({
    ...(request.id === undefined ? {} : { id: request.id }),
    action,
    enforced: action === 'allow' || mode === 'enforce',
    ...(mode === 'monitor' && { mode }),
    reasons: Object.freeze([
      Object.freeze({ id: 'inspection_failed', text: 'The inspection failed; the action is the configured one.' }),
    ]),
    inspection: faultInspection(request, at),
  })
}

/** The inspection of a request that could not be inspected. `at` is ISO 8601. */
function faultInspection({ peer, method }: InspectionRequest, at: string): Inspection {
  return Object.freeze({
    at,
    peer,
    client: Object.freeze({ address: '', via: 'none', malformed: false }),
    request: Object.freeze({ method, path: '/', readings: [] }),
    network: NOTHING_KNOWN,
    agent: NO_VERDICT,
    degraded: ALL_DEGRADED,
  })
}
