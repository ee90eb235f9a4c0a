import { formatAddress } from '../address/address.ts'
import { type ClientTrust, type ResolvedClient, resolveClient } from '../address/client.ts'
import { classify } from '../network/classify.ts'
import type { NetworkFinding } from '../network/finding.ts'
import type { CompiledPolicy } from '../policy/compile.ts'
import { canonicalPath } from '../policy/path.ts'
import type { Clock, Snapshot, Snapshots } from '../ports.ts'
import type { Action, Degraded, Mode } from '../vocabulary.ts'
import { decide } from './decide.ts'
import type { Decision } from './decision.ts'
import type { Inspection } from './inspection.ts'
import type { InspectionRequest } from './request.ts'

export interface InspectorOptions {
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly trust: ClientTrust
  readonly policy: CompiledPolicy
  readonly mode: Mode
  /** What is decided when the inspection itself fails; `allow` unless told otherwise. */
  readonly onError?: Action
  /** Called once, when forwarding headers arrive although no proxy is trusted. */
  readonly onForwardedUntrusted?: () => void
  /** Called with a bug that was met while inspecting; the request is decided by `onError`. */
  readonly onFault?: (error: unknown) => void
}

/** Looks at requests, in memory, without waiting for anything. */
export interface Inspector {
  /** The client's address: from the socket, and from the one configured header where the peer is trusted. */
  client(request: InspectionRequest): ResolvedClient
  inspect(request: InspectionRequest): Inspection
  /** Inspects and applies the policy. Never throws at the host: a fault is data in the reasons. */
  decide(request: InspectionRequest): Decision
}

export function createInspector(options: InspectorOptions): Inspector {
  const { clock, snapshots, trust, policy, mode } = options
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
    const { address, via, malformed } = client(request)
    const network = address === undefined ? NO_CLIENT : classify(address, snapshot)
    const country = address === undefined || network.reserved.reserved ? undefined : snapshot.countries?.find(address)
    const { path, canonical } = canonicalPath(request.target)
    const inspection: { -readonly [Member in keyof Inspection]: Inspection[Member] } = {
      at: timestamp(),
      peer: request.peer,
      client: Object.freeze({ address: address === undefined ? '' : formatAddress(address), via, malformed }),
      request: Object.freeze({ method: request.method, path, canonical }),
      network,
      degraded: degradedOf(snapshot),
    }
    if (country !== undefined) inspection.country = country
    return Object.freeze(inspection)
  }

  return {
    client,
    inspect,
    decide(request) {
      try {
        return decide(policy, inspect(request), mode)
      } catch (error) {
        options.onFault?.(error)
        return faultDecision(request, options, timestamp())
      }
    },
  }
}

/** The finding where no client address could be had: nothing is known, and nothing is assumed. */
const NO_CLIENT: NetworkFinding = Object.freeze({
  reserved: Object.freeze({ reserved: false }),
  verdict: Object.freeze({ classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' }),
  provider: '',
  asType: 'unknown',
})

const NOTHING_DEGRADED: readonly Degraded[] = Object.freeze([])
const RANGES_DEGRADED: readonly Degraded[] = Object.freeze(['ranges'])
const NETWORKS_DEGRADED: readonly Degraded[] = Object.freeze(['asn', 'ranges'])

function degradedOf(snapshot: Snapshot): readonly Degraded[] {
  if (snapshot.networks === undefined) return NETWORKS_DEGRADED
  return snapshot.rangesLoaded ? NOTHING_DEGRADED : RANGES_DEGRADED
}

/** A bug in the inspection must not become the host's: classification is not authorisation, so the default is open. */
function faultDecision(request: InspectionRequest, options: InspectorOptions, at: string): Decision {
  const action = options.onError ?? 'allow'
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
      network: NO_CLIENT,
      degraded: NETWORKS_DEGRADED,
    }),
  })
}
