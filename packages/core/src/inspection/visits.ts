import { LRUCache } from 'lru-cache'
import { formatAddress } from '../address/address.ts'
import type { Client } from '../address/client.ts'
import { DAY_MS } from '../duration.ts'
import type { Snapshot } from '../ports/index.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { AgentInspector, AgentResult } from './agent-inspector.ts'
import type { Ruling } from './decide.ts'
import { hasFingerprint } from './request-fingerprint.ts'
import { describeVisitor, findObservation, type Visitor } from './visitor.ts'

/** Holds facts about a visitor, and the outcome of its last request. Never changed: the next one replaces it whole. */
export interface Visit extends Visitor, AgentResult {
  /** Absent where the decision is not the same for every request with this fingerprint. */
  readonly ruling: Ruling | undefined
}

export type Visits = ReturnType<typeof createVisits>

/** Limits how many visits are kept, in some eight megabytes. A smaller flood between two requests of a visitor does not evict it. */
const MAX_VISITS = 24_576

/** Keeps the last visit of each client while its snapshot is in use, and up to midnight UTC, when lists become a day older. */
export function createVisits(agents: AgentInspector) {
  const kept = new LRUCache<string, Visit>({ max: MAX_VISITS })
  const seen = { known: 0, fresh: 0 }
  let current: Snapshot | undefined
  let today = Number.NaN

  return {
    /** Counts requests whose visitor was remembered, and others. */
    seen,
    of(request: InspectionRequest, resolved: Client, snapshot: Snapshot, now: number): Visit {
      const day = Math.floor(now / DAY_MS)
      if (snapshot !== current || day !== today) {
        kept.clear()
        current = snapshot
        today = day
      }
      const key = resolved.address === undefined ? '' : formatAddress(resolved.address)
      const last = kept.get(key)
      const known = last !== undefined && isVisitBy(last, resolved, snapshot) ? last : undefined
      if (known === undefined) seen.fresh++
      else seen.known++
      if (known?.fingerprint !== undefined && hasFingerprint(request, known.fingerprint)) return known
      const visitor = known ?? describeVisitor(resolved, key, snapshot)
      // Many visitors never come again: a fingerprint is kept from the second request on.
      const visit = makeVisit(visitor, agents.look(request, visitor, snapshot, known !== undefined), undefined)
      kept.set(key, visit)
      return visit
    },
    /** Keeps a ruling for the next request with the same fingerprint. */
    keepRuling: (visit: Visit, ruling: Ruling) => void kept.set(visit.client.address, makeVisit(visit, visit, ruling)),
  }
}

/** The object is written out: spread objects do not share a hidden class, and are several times as slow to read. */
function makeVisit(
  { address, client, network, country, countryUnknown, region, observation }: Visitor,
  { agent, crawler, fingerprint }: AgentResult,
  ruling: Ruling | undefined,
): Visit {
  return { address, client, network, country, countryUnknown, region, observation, agent, crawler, fingerprint, ruling }
}

/** Observations appear and expire at any moment; the rest is valid for as long as the snapshot. */
function isVisitBy(
  { client, observation }: Visitor,
  { address, via, malformed, isProxy }: Client,
  snapshot: Snapshot,
): boolean {
  const isSame = client.via === via && client.malformed === malformed && client.isProxy === isProxy
  return isSame && observation === findObservation(address, snapshot)
}
