import { type Address, formatAddress } from '../address/address.ts'
import { type ClientTrust, type ResolvedClient, resolveClient } from '../address/client.ts'
import { NO_VERDICT } from '../agent/judge.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { NetworkFinding } from '../network/finding.ts'
import { rangesAreDegraded } from '../network/range-data.ts'
import type { CompiledPolicy } from '../policy/compile.ts'
import { canonicalPath } from '../policy/path.ts'
import type { Clock, Snapshot, Snapshots } from '../ports.ts'
import type { Degraded, Mode } from '../vocabulary.ts'
import { createAgentInspector, type ToldOf } from './agent-inspector.ts'
import { createNetworkSentences, decide } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Inspection } from './inspection.ts'
import type { InspectionRequest } from './request.ts'

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
  /**
   * The decision about a request that somebody tells of and that did not come here. It waits for DNS where a crawler is
   * claimed, and leaves nothing behind that another decision could come to rest on but what DNS itself answered.
   */
  check(address: Address, told: ToldOf): Promise<Decision>
}

export function createInspector(options: InspectorOptions): Inspector {
  const { clock, snapshots, trust, policy, mode } = options
  const agents = createAgentInspector(options)
  const sentences = createNetworkSentences()
  // Once an instance, so that a busy server is told and not flooded.
  let told = false

  // Writing a date costs as much as a lookup: only the milliseconds are new on most requests.
  let second = Number.NaN
  let untilSecond = ''
  function timestamp(): string {
    const time = clock.now()
    const now = Math.floor(time / 1000)
    if (now !== second) {
      second = now
      untilSecond = new Date(now * 1000).toISOString().slice(0, -4)
    }
    return `${untilSecond}${String(time - now * 1000).padStart(3, '0')}Z`
  }

  function client(request: InspectionRequest): ResolvedClient {
    const resolved = resolveClient(request, trust)
    if (resolved.forwardedUntrusted && !told) {
      told = true
      options.onForwardedUntrusted?.()
    }
    return resolved
  }

  function inspect(request: InspectionRequest): Inspection {
    const snapshot = snapshots.current()
    const resolved = client(request)
    const inspection = examine(request, resolved, snapshot)
    const { address, via } = resolved
    const text = inspection.client.address
    if (address !== undefined) options.onClassified?.(address, inspection.network)
    const asks = agents.look(request, { address, text, via, network: inspection.network, snapshot })
    inspection.agent = asks.agent
    if (asks.crawler !== undefined) inspection.crawler = asks.crawler
    return Object.freeze(inspection)
  }

  /** All that does not depend on who asks. */
  function examine(request: InspectionRequest, { address, via, malformed }: ResolvedClient, snapshot: Snapshot): Draft {
    const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
    const country = address === undefined || network.reserved.reserved ? undefined : snapshot.countries?.find(address)
    const { path, canonical } = canonicalPath(request.target)
    const inspection: Draft = {
      at: timestamp(),
      peer: request.peer,
      client: Object.freeze({ address: address === undefined ? '' : formatAddress(address), via, malformed }),
      request: Object.freeze({ method: request.method, path, canonical }),
      network,
      agent: NO_VERDICT,
      degraded: degradedOf(snapshot, clock.now()),
    }
    if (country !== undefined) inspection.country = country
    return inspection
  }

  return {
    client,
    inspect,
    decide(request) {
      try {
        return decide(policy, inspect(request), { mode, fields: request.fields, sentences })
      } catch (error) {
        options.onFault?.(error)
        return faultDecision(request, options, timestamp())
      }
    },
    async check(address, about) {
      const snapshot = snapshots.current()
      const text = formatAddress(address)
      const request = { peer: text, method: 'GET', target: '/', scheme: 'unknown', httpVersion: '', ...about } as const
      const inspection = examine(
        request,
        { address, via: 'peer', malformed: false, forwardedUntrusted: false },
        snapshot,
      )
      const asks = await agents.check(about, { address, text, via: 'peer', network: inspection.network, snapshot })
      inspection.agent = asks.agent
      if (asks.crawler !== undefined) inspection.crawler = asks.crawler
      return decide(policy, Object.freeze(inspection), { mode, fields: about.fields, sentences })
    },
  }
}

type Draft = { -readonly [Member in keyof Inspection]: Inspection[Member] }

const NOTHING_DEGRADED: readonly Degraded[] = Object.freeze([])
const RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['ranges'])
const NETWORKS_DEGRADED: readonly Degraded[] = Object.freeze(['asn', 'ranges'])

function degradedOf(snapshot: Snapshot, now: number): readonly Degraded[] {
  const known = degradedNetworks(snapshot, now)
  return snapshot.countries === undefined ? Object.freeze(['geo', ...known]) : known
}

function degradedNetworks(snapshot: Snapshot, now: number): readonly Degraded[] {
  if (snapshot.networks === undefined) return NETWORKS_DEGRADED
  return rangesAreDegraded(snapshot, now) ? RANGES_DEGRADED : NOTHING_DEGRADED
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
