import { type Address, formatAddress } from '../address/address.ts'
import { type ClientTrust, type ResolvedClient, resolveClient } from '../address/client.ts'
import { carriesForwarding } from '../address/forwarding.ts'
import { NO_VERDICT } from '../agent/judge.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import { NOTHING_KNOWN } from '../network/classify.ts'
import { rangesAreDegraded } from '../network/range-data.ts'
import type { CompiledPolicy } from '../policy/compile.ts'
import type { Clock, Snapshot, Snapshots } from '../ports.ts'
import type { Decision } from '../values/decision.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Degraded, Mode } from '../vocabulary.ts'
import { createAgentInspector, type ToldOf } from './agent-inspector.ts'
import { createNetworkSentences, decisionOf, type Ruling, ruleOn } from './decide.ts'
import { inspectionOf } from './inspect.ts'
import { lateVerdict, type RequestVerdict, verdictOf } from './verdict.ts'
import { createVisitors, type Visitor, visitorOf } from './visitors.ts'

export interface InspectorOptions {
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly trust: ClientTrust
  readonly policy: CompiledPolicy
  readonly mode: Mode
  /** Holds claims of crawlers against what is known; absent: no claim is looked at. */
  readonly crawlers?: CrawlerVerifier
  /** Judges HTTP message signatures; absent: none is looked at. */
  readonly signatures?: SignatureVerifier
  /** Called once, when forwarding headers arrive although no proxy is trusted. */
  readonly onForwardedUntrusted?: () => void
  /** Told of every client that was classified; what it does must not wait, and it must not throw. */
  readonly onClassified?: (address: Address, finding: NetworkFinding) => void
  /** Called with a bug that was met while inspecting; the request is decided by the policy's `onError`. */
  readonly onFault?: (error: unknown) => void
}

/** Looks at requests, in memory, without waiting for anything. */
export interface Inspector {
  /** The client's address: from the socket, and from the one configured header where the peer is trusted. */
  client(request: InspectionRequest): ResolvedClient
  inspect(request: InspectionRequest): Inspection
  /** Inspects and applies the policy. Never throws at the host: a fault is data in the reasons. */
  decide(request: InspectionRequest): Decision
  /** The same in short, for hosts that carry a decision out and seldom read it. */
  judge(request: InspectionRequest): RequestVerdict
  /**
   * The decision about a request that somebody tells of and that did not come here. It waits for DNS where a crawler is
   * claimed, and leaves nothing behind that another decision could come to rest on but what DNS itself answered.
   */
  check(address: Address, told: ToldOf): Promise<Decision>
}

export function createInspector(options: InspectorOptions): Inspector {
  const { clock, snapshots, trust, policy, mode } = options
  const agents = createAgentInspector(options)
  const visitors = createVisitors(trust)
  const sentences = createNetworkSentences()
  // Once an instance, so that a busy server is told and not flooded.
  let told = false

  // Writing a date costs as much as a lookup: the milliseconds alone are new, and often not even those.
  let second = Number.NaN
  let untilSecond = ''
  let written = Number.NaN
  let text = ''
  function timestamp(time: number): string {
    if (time === written) return text
    const now = Math.floor(time / 1000)
    if (now !== second) {
      second = now
      untilSecond = new Date(now * 1000).toISOString().slice(0, -4)
    }
    written = time
    text = `${untilSecond}${String(time - now * 1000).padStart(3, '0')}Z`
    return text
  }

  function client(request: InspectionRequest): ResolvedClient {
    const resolved = resolveClient(request, trust)
    if (resolved.forwardedUntrusted) tellOnce()
    return resolved
  }

  function tellOnce(): void {
    if (told) return
    told = true
    options.onForwardedUntrusted?.()
  }

  function visitorAt(request: InspectionRequest, snapshot: Snapshot, now: number): Visitor {
    if (trust.empty && !told && carriesForwarding(request.fields)) tellOnce()
    const visitor = visitors.of(request, snapshot, now)
    tellClassified(visitor)
    return visitor
  }

  function tellClassified({ address, network }: Visitor): void {
    if (address !== undefined) options.onClassified?.(address, network)
  }

  /** What the policy says of a visitor's request. Whether data is loaded changes with the snapshot alone. */
  function rulingOn(visitor: Visitor, inspection: Inspection, fields: readonly string[]): Ruling {
    const rules = visitor.rules ?? policy.rulesFor(inspection)
    const ruling = ruleOn(rules, inspection, { mode, fields, sentences })
    if (visitor.shown !== undefined) {
      visitor.rules = rules
      if (rules.settled) visitor.ruling = ruling
    }
    return ruling
  }

  function judgeNow(request: InspectionRequest): RequestVerdict {
    const snapshot = snapshots.current()
    const now = clock.now()
    const degraded = degradedOf(snapshot, now)
    const at = timestamp(now)
    const again = visitors.again(request, snapshot, now)
    if (again !== undefined) {
      tellClassified(again)
      return lateVerdict(request, again, degraded, at)
    }
    const visitor = visitorAt(request, snapshot, now)
    const asks = agents.look(request, visitor, snapshot)
    const inspection = inspectionOf(request, visitor, asks, degraded, at)
    return verdictOf(decisionOf(rulingOn(visitor, inspection, request.fields), inspection))
  }

  function judge(request: InspectionRequest): RequestVerdict {
    try {
      return judgeNow(request)
    } catch (error) {
      options.onFault?.(error)
      return verdictOf(faultDecision(request, options, timestamp(clock.now())))
    }
  }

  return {
    client,
    inspect(request) {
      const snapshot = snapshots.current()
      const now = clock.now()
      const visitor = visitorAt(request, snapshot, now)
      const asks = agents.look(request, visitor, snapshot)
      return inspectionOf(request, visitor, asks, degradedOf(snapshot, now), timestamp(now))
    },
    decide: (request) => judge(request).decision(),
    judge,
    async check(address, about) {
      const snapshot = snapshots.current()
      const now = clock.now()
      const text = formatAddress(address)
      const visitor = visitorOf({ address, via: 'peer', malformed: false }, snapshot)
      const request = { peer: text, method: 'GET', target: '/', ...about }
      const asks = await agents.check(about, visitor, snapshot)
      const inspection = inspectionOf(request, visitor, asks, degradedOf(snapshot, now), timestamp(about.at ?? now))
      return decisionOf(rulingOn(visitor, inspection, about.fields), inspection)
    },
  }
}

const NOTHING_DEGRADED: readonly Degraded[] = Object.freeze([])
const RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['ranges'])
const NETWORKS_DEGRADED: readonly Degraded[] = Object.freeze(['asn', 'ranges'])
const GEO_DEGRADED: readonly Degraded[] = Object.freeze(['geo'])
const GEO_AND_RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'ranges'])
const ALL_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'asn', 'ranges'])

/** One of few lists, each always the same object. */
function degradedOf(snapshot: Snapshot, now: number): readonly Degraded[] {
  const noPlaces = snapshot.countries === undefined
  if (snapshot.networks === undefined) return noPlaces ? ALL_DEGRADED : NETWORKS_DEGRADED
  if (rangesAreDegraded(snapshot, now)) return noPlaces ? GEO_AND_RANGES_DEGRADED : RANGES_DEGRADED
  return noPlaces ? GEO_DEGRADED : NOTHING_DEGRADED
}

/** A bug in the inspection must not become the host's: classification is not authorisation, so the default is open. */
function faultDecision(request: InspectionRequest, options: InspectorOptions, at: string): Decision {
  const action = options.policy.onError
  return Object.freeze({
    action,
    enforced: action === 'allow' || options.mode === 'enforce',
    reasons: Object.freeze([
      Object.freeze({ id: 'inspection_failed', text: 'The inspection failed; the action is the configured one.' }),
    ]),
    inspection: Object.freeze({
      at,
      peer: request.peer,
      client: Object.freeze({ address: '', via: 'none' as const, malformed: false }),
      request: Object.freeze({ method: request.method, path: '/', canonical: false }),
      network: NOTHING_KNOWN,
      agent: NO_VERDICT,
      degraded: NETWORKS_DEGRADED,
    }),
  })
}
