import { type Address, formatAddress } from '../address/address.ts'
import { type ClientTrust, isLoopback, isTrustedPeer, type ResolvedClient, resolveClient } from '../address/client.ts'
import { namedScheme } from '../address/client-scheme.ts'
import { NO_VERDICT } from '../agent/judge.ts'
import { type NamedJa4, namedJa4 } from '../agent/named-ja4.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import type { Behaviour, BehaviourFinding, SiteFinder } from '../behaviour/behaviour.ts'
import type { Challenges } from '../challenge/challenges.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import { mayBeMcp } from '../mcp/read-request.ts'
import { olderSource } from '../network/ages.ts'
import { NOTHING_KNOWN } from '../network/classify.ts'
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
import { createAgentInspector, type DescribedRequest } from './agent-inspector.ts'
import { buildDecision, decide, ruleOn } from './decide.ts'
import { type AgentResult, createVisits, describeVisitor, type Visitor, type Visits } from './visits.ts'

export interface InspectorOptions {
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly trust: ClientTrust
  readonly policy: CompiledPolicy
  readonly mode: Mode
  /** Checks claims of crawlers; without it no claim is checked. */
  readonly crawlers?: CrawlerVerifier | undefined
  /** Judges HTTP message signatures; without it none is read. */
  readonly signatures?: SignatureVerifier | undefined
  /** Finds the pass in the cookies of a request; without it passes are not read. */
  readonly findPass?: Challenges['findPass'] | undefined
  /** Knows what visitors do; without it their behaviour is unknown. */
  readonly behaviour?: Pick<Behaviour, 'find'> | undefined
  /** Finds the site of a host by name, whose habits the behaviour is compared with; without it there is one site. */
  readonly findSite?: SiteFinder | undefined
  /** Called once, when forwarding headers arrive although no proxy is trusted. */
  readonly onForwardedUntrusted?: (() => void) | undefined
  /** Called once, when a client on this machine sends a request although no proxy is trusted. */
  readonly onLocalClient?: (() => void) | undefined
  /** Called with the client of every request; must not wait, and must not throw. */
  readonly onClassified?: ((address: Address, finding: NetworkFinding) => void) | undefined
  /** Called with a bug in the inspection; the policy's `onError` decides the request. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** Replaces the inspector's own policy; its allowlist holds in any case. */
export interface OtherRules {
  readonly policy?: CompiledPolicy | undefined
  readonly mode?: Mode | undefined
  /** Describes a request that did not come here as rules read it; without it rules read the request as it came. */
  readonly asked?: AskedParts | undefined
}

/** Inspects requests in memory, without waiting for anything. */
export interface Inspector {
  /** Resolves the client's address: from the socket, and from the configured header where the peer is trusted. */
  client(request: InspectionRequest): ResolvedClient
  /** Reports whether a socket's peer is a trusted proxy. */
  isTrusted(peer: string): boolean
  /** Returns the scheme of the client, as a trusted proxy names it; `undefined` where none does. */
  namedScheme(request: InspectionRequest): 'http' | 'https' | undefined
  /** Returns the JA4 of the client, as a trusted proxy names it; `undefined` where none does. */
  namedJa4(request: InspectionRequest): NamedJa4 | undefined
  /**
   * The header in which trusted proxies name the client, in lower case, where it holds one address: of two nothing says which is forged.
   * `undefined` where it is a list, and where no proxy is trusted.
   */
  readonly singleHeader: string | undefined
  /** Inspects a request without a decision. Never throws: after a fault nothing is known. */
  inspect(request: InspectionRequest): Inspection
  /** Reports whether a person's browser calls: the user agent names a browser, and the verdict is a person's. Never throws. */
  isBrowser(request: InspectionRequest): boolean
  /** Reports whether a rule reads the calls of MCP clients that a request may have in its body. Never throws. */
  readsCalls(request: InspectionRequest, others?: Pick<OtherRules, 'policy'>): boolean
  /** Inspects and applies the policy, or others in its place. Never throws at the host: the reasons report a fault. */
  decide(request: InspectionRequest, others?: OtherRules): Decision
  /**
   * Decides about a described request. It waits for DNS where a crawler is claimed, and keeps only DNS answers, so that it affects no other
   * decision.
   */
  check(address: Address, described: DescribedRequest): Promise<Decision>
  /** Counts requests whose visitor was remembered, and others. */
  readonly visits: Readonly<Visits['seen']>
}

export function createInspector(options: InspectorOptions): Inspector {
  const { clock, snapshots, trust, policy, mode } = options
  const { look, agents, visits, timestamp, readPath, readClient } = createLook(options)

  function decideNow(request: InspectionRequest, others: OtherRules | undefined): Decision {
    const { visit, inspection } = look(request)
    if (others !== undefined) {
      const { id } = request
      const { asked } = others
      const options = { mode: others.mode ?? mode, request: asked ?? request, id, isDescribed: asked !== undefined }
      return decide(others.policy ?? policy, inspection, options)
    }
    // A client's behaviour changes from one request to the next, and so does the ruling.
    const isStill = inspection.agent === visit.agent
    const kept = isStill ? visit.ruling : undefined
    if (kept !== undefined && (kept.holds === undefined || kept.holds(inspection.pass))) {
      return buildDecision(kept, inspection, request.id)
    }
    const ruling = ruleOn(policy, inspection, { mode, request })
    if (isStill && ruling.lasting && visit.fingerprint !== undefined) visits.keepRuling(visit, ruling)
    return buildDecision(ruling, inspection, request.id)
  }

  return {
    client: readClient,
    visits: visits.seen,
    isTrusted: (peer) => isTrustedPeer(peer, trust),
    namedScheme: (request) => namedScheme(request, trust),
    namedJa4: trust.ja4Header === undefined ? () => undefined : (request) => namedJa4(request, trust),
    singleHeader: trust.empty || trust.form !== 'single' ? undefined : trust.header,
    inspect(request) {
      const fault = () => faultInspection(request, timestamp(clock.now()))
      return orElse(() => look(request).inspection, fault, options.onFault)
    },
    isBrowser(request) {
      const isHuman = () => agents.namesBrowser(request) && look(request).inspection.agent.class === 'human'
      return orElse(isHuman, () => false, options.onFault)
    },
    readsCalls(request, others) {
      const reads = (others?.policy ?? policy).readsCalls
      if (reads === undefined) return false
      return orElse(
        () => mayBeMcp(request) && reads({ request: { method: '', ...readPath(request.target) } }),
        () => false,
        options.onFault,
      )
    },
    decide(request, others) {
      try {
        return decideNow(request, others)
      } catch (error) {
        options.onFault?.(error)
        const action = (others?.policy ?? policy).onError
        return faultDecision(request, action, others?.mode ?? mode, timestamp(clock.now()))
      }
    },
    async check(address, described) {
      const snapshot = snapshots.current()
      const now = clock.now()
      const text = formatAddress(address)
      const visitor = describeVisitor({ address, text, via: 'peer', malformed: false }, snapshot)
      const result = await agents.check(described, visitor, snapshot)
      const { method = 'GET', target = '/' } = described
      const request = { peer: text, ...described, method, target }
      const inspection = buildInspection(request, readPath(request.target), visitor, result, {
        degraded: listDegraded(snapshot),
        at: timestamp(described.at ?? now),
        pass: described.pass,
      })
      const { id, asked } = described
      return decide(policy, inspection, { mode, request: pickParts(described), id, isDescribed: asked !== undefined })
    },
  }
}

/** Creates the inspection of one request, by its parts: who sends it, from where, and what the visitor does. */
function createLook(options: InspectorOptions) {
  const { clock, snapshots, onClassified, findPass, behaviour: behaviours, findSite } = options
  const agents = createAgentInspector(options)
  const visits = createVisits(agents.look)
  const timestamp = createTimestamps()
  const readPath = createPathReader()
  const readClient = createClientReader(options)

  function look(request: InspectionRequest) {
    const snapshot = snapshots.current()
    const now = clock.now()
    const at = timestamp(now)
    const path = readPath(request.target)
    const visit = visits.of(request, readClient(request), snapshot, now)
    const { visitor, agent, fingerprint } = visit
    const { address, network, client } = visitor
    if (address !== undefined) onClassified?.(address, network)
    // A request with the fingerprint of an earlier one has the names of its fields: without a cookie it has no pass.
    const find = fingerprint?.hasCookies === false ? undefined : findPass
    const pass = request.pass ?? find?.(request, network.verdict.classification, now, address)
    const known = { agent, client, pass, userAgent: fingerprint?.userAgent }
    const behaviour = visitor.isWatched ? behaviours?.find(request, known, now, findSite) : undefined
    const degraded = listDegraded(snapshot)
    const bits = behaviour?.bits ?? 0
    const raised = bits === 0 ? visit : { ...visit, agent: agents.withBehaviour(agent, bits) }
    return { visit, inspection: buildInspection(request, path, visitor, raised, { degraded, at, pass }, behaviour) }
  }

  return { look, agents, visits, timestamp, readPath, readClient }
}

/** Returns the result of work, or of `fault` where it throws. */
function orElse<T>(work: () => T, fault: () => T, onFault: InspectorOptions['onFault']): T {
  try {
    return work()
  } catch (error) {
    onFault?.(error)
    return fault()
  }
}

/** Resolves the clients of requests. Forwarding headers without a trusted proxy are reported once: a warning for each would flood a log. */
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

/** Returns a described request as rules read it. */
function pickParts({ asked, fields, target, ja4, headersKnown }: DescribedRequest): AskedParts {
  return asked ?? { fields, target, ja4, kept: headersKnown ? undefined : ['user-agent'] }
}

/** Writes times as ISO 8601. That takes as long as a lookup, and on a busy server many requests share a millisecond. */
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

/** An inspection repeats these members of a request. */
type Asker = Pick<InspectionRequest, 'peer' | 'method' | 'user' | 'plan' | 'ja4' | 'ja4Header' | 'mcp'>

/** Builds an inspection. `at` is ISO 8601, and `behaviour` what the visitor has done so far. */
function buildInspection(
  { peer, method, user, plan, ja4, ja4Header, mcp }: Asker,
  { path, readings }: RequestPath,
  { client, network, country, countryUnknown, oldest, region }: Visitor,
  { agent, crawler }: AgentResult,
  { degraded, at, pass }: Pick<Inspection, 'degraded' | 'at' | 'pass'>,
  behaviour?: BehaviourFinding,
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
  const oldestOfAll = crawler?.oldest === undefined ? oldest : olderSource(oldest, crawler.oldest)
  if (oldestOfAll !== undefined) inspection.oldest = oldestOfAll
  if (region !== undefined) inspection.region = region
  if (crawler !== undefined) inspection.crawler = crawler
  if (user !== undefined) inspection.user = user
  if (plan !== undefined) inspection.plan = plan
  if (ja4 !== undefined) inspection.ja4 = ja4
  if (ja4Header !== undefined) inspection.ja4Header = ja4Header
  if (mcp !== undefined) inspection.mcp = mcp
  if (pass !== undefined) inspection.pass = pass
  if (behaviour !== undefined) inspection.behaviour = behaviour.inspected
  return Object.freeze(inspection)
}

const NOTHING_DEGRADED: readonly Degraded[] = Object.freeze([])
const RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['ranges'])
const NETWORKS_DEGRADED: readonly Degraded[] = Object.freeze(['asn', 'ranges'])
const GEO_DEGRADED: readonly Degraded[] = Object.freeze(['geo'])
const GEO_AND_RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'ranges'])
const ALL_DEGRADED: readonly Degraded[] = Object.freeze(['geo', 'asn', 'ranges'])

/** Returns one of few lists, each always the same object. */
function listDegraded(snapshot: Snapshot): readonly Degraded[] {
  const noPlaces = snapshot.geo === undefined || snapshot.geo.families.length === 0
  if (snapshot.networks === undefined) return noPlaces ? ALL_DEGRADED : NETWORKS_DEGRADED
  if (!snapshot.rangesLoaded) return noPlaces ? GEO_AND_RANGES_DEGRADED : RANGES_DEGRADED
  return noPlaces ? GEO_DEGRADED : NOTHING_DEGRADED
}

/** Decides after a fault: a bug in the inspection must not break the host. Classification is not authorisation, so the default is open. */
function faultDecision(request: InspectionRequest, action: Decision['action'], mode: Mode, at: string): Decision {
  return Object.freeze({
    ...(request.id === undefined ? {} : { id: request.id }),
    action,
    enforced: action === 'allow' || mode === 'enforce',
    ...(mode === 'monitor' && { mode }),
    reasons: Object.freeze([
      Object.freeze({ id: 'inspection_failed', text: 'The inspection failed, so the configured action applies.' }),
    ]),
    inspection: faultInspection(request, at),
  })
}

/** Makes the inspection of a request that could not be inspected. `at` is ISO 8601. */
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
