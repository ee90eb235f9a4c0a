import { LRUCache } from 'lru-cache'
import type { Address } from '../address/address.ts'
import type { Client } from '../address/client.ts'
import { isNamed } from '../address/forwarding.ts'
import { valueCounts } from '../agent/fields.ts'
import { hasBehaviour } from '../behaviour/behaviour.ts'
import { DAY_MS } from '../duration.ts'
import { countrySource, findCountry } from '../geo/find-country.ts'
import { olderSource } from '../network/ages.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { Observation, Snapshot } from '../ports/index.ts'
import { locateRegion } from '../region/locate-region.ts'
import type { AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedCountry } from '../values/country.ts'
import type { DatedSource, NetworkFinding } from '../values/finding.ts'
import type { InspectedClient, InspectedCrawler } from '../values/inspection.ts'
import type { InspectedRegion } from '../values/region.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { Ruling } from './decide.ts'

/** Holds all that is known of a visitor by the address. */
export interface Visitor {
  readonly address: Address | undefined
  readonly client: InspectedClient
  readonly network: NetworkFinding
  /** The address has this country; absent when unknown. */
  readonly country: InspectedCountry | undefined
  /** Tables of countries are loaded, and none has the address. */
  readonly countryUnknown: boolean
  /** The oldest source of the network and the country; `undefined` where no source has a day. */
  readonly oldest: DatedSource | undefined
  /** Absent where no data of regions is open. */
  readonly region: InspectedRegion | undefined
  /** Tells whether behaviour counts: it does not for the operator's machines. */
  readonly isWatched: boolean
  /** The address had this observation when the rest was looked up. */
  readonly observation: Observation | undefined
}

/** Holds all of a request that an agent verdict rests on, besides its visitor. */
export interface RequestFingerprint {
  readonly method: string
  readonly httpVersion: string
  readonly scheme: InspectionRequest['scheme']
  readonly ja4: string | undefined
  readonly http2Window: number | undefined
  readonly userAgent: string
  readonly hasCookies: boolean
  /** Raw fields; `undefined` takes the place of values that do not count: cookies are long and private. */
  readonly fields: readonly (string | undefined)[]
}

/** Holds the verdict on the agent, and the claimed crawler. */
export interface AgentResult {
  readonly agent: AgentVerdict
  readonly crawler: InspectedCrawler | undefined
  /** A request of the same visitor with this fingerprint has the same result; absent where each must be inspected. */
  readonly fingerprint: RequestFingerprint | undefined
}

/** Holds facts about a visitor, and the outcome of its last request. Never changed: the next one replaces it whole. */
export interface Visit extends AgentResult {
  readonly visitor: Visitor
  /** Absent where the decision is not the same for every request with this fingerprint. */
  readonly ruling: Ruling | undefined
}

export type Visits = ReturnType<typeof createVisits>

/** Inspects the agent of a request; a fingerprint is made only on demand. */
type LookAtAgent = (
  request: InspectionRequest,
  visitor: Visitor,
  snapshot: Snapshot,
  withFingerprint: boolean,
) => AgentResult

/** Limits how many visits are kept, in some eight megabytes. A smaller flood between two requests of a visitor does not evict it. */
const MAX_VISITS = 24_576

/** Keeps the last visit of each client while its snapshot is in use, and up to midnight UTC, when lists become a day older. */
export function createVisits(lookAtAgent: LookAtAgent) {
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
      const last = kept.get(resolved.text)
      const known = last !== undefined && isVisitBy(last.visitor, resolved, snapshot) ? last : undefined
      if (known === undefined) seen.fresh++
      else seen.known++
      if (known?.fingerprint !== undefined && hasFingerprint(request, known.fingerprint)) return known
      const visitor = known?.visitor ?? describeVisitor(resolved, snapshot)
      // Many visitors never come again: a fingerprint is kept from the second request on.
      const visit = makeVisit(visitor, lookAtAgent(request, visitor, snapshot, known !== undefined), undefined)
      kept.set(resolved.text, visit)
      return visit
    },
    /** Keeps a ruling for the next request with the same fingerprint. */
    keepRuling(visit: Visit, ruling: Ruling): void {
      const { visitor } = visit
      kept.set(visitor.client.address, makeVisit(visitor, visit, ruling))
    },
  }
}

/** The object is written out: spread objects do not share a hidden class, and are several times as slow to read. */
function makeVisit(visitor: Visitor, { agent, crawler, fingerprint }: AgentResult, ruling: Ruling | undefined): Visit {
  return { visitor, agent, crawler, fingerprint, ruling }
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

function findObservation(address: Address | undefined, { observations }: Snapshot): Observation | undefined {
  return address === undefined ? undefined : observations?.find(address)
}

/** Looks up all that is known of an address. */
export function describeVisitor({ address, text, via, malformed, isProxy }: Client, snapshot: Snapshot): Visitor {
  // The observation is read first: if it expires during the lookup, the next request looks again.
  const observation = findObservation(address, snapshot)
  const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
  const country = address === undefined ? undefined : findCountry(address, network, snapshot)
  const region = locateRegion(address, network, snapshot)
  const isAsked = address !== undefined && !network.reserved.reserved && snapshot.countries !== undefined
  const client = Object.freeze(isProxy ? { address: text, via, malformed, isProxy } : { address: text, via, malformed })
  const countryUnknown = isAsked && country === undefined
  const oldest = olderSource(network.oldest, countrySource(country))
  const isWatched = hasBehaviour({ client, network })
  return { address, client, network, country, countryUnknown, oldest, region, isWatched, observation }
}

/** Longer requests are judged each time, so that each visitor takes little memory. */
const MAX_CHARACTERS = 1500

/** Limits the user agents whose last fingerprint is kept. */
const MAX_USER_AGENTS = 512

/** Shares fingerprints: visitors with one browser send the same fields, and a copy each would take several times the memory. */
export function createRequestFingerprints() {
  const kept = new LRUCache<string, RequestFingerprint>({ max: MAX_USER_AGENTS })
  return {
    /** Returns `undefined` where the request is too long to keep. */
    of(request: InspectionRequest, userAgent: string): RequestFingerprint | undefined {
      const known = kept.get(userAgent)
      if (known !== undefined && hasFingerprint(request, known)) return known
      const fingerprint = readFingerprint(request, userAgent)
      if (fingerprint !== undefined) kept.set(userAgent, fingerprint)
      return fingerprint
    },
  }
}

function readFingerprint(request: InspectionRequest, userAgent: string): RequestFingerprint | undefined {
  const { method, httpVersion, scheme, ja4, http2Window, fields: raw } = request
  const fields: (string | undefined)[] = []
  let characters = 0
  let hasCookies = false
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string
    const value = valueCounts(name) ? (raw[at + 1] as string) : undefined
    fields.push(name, value)
    hasCookies ||= isNamed(name, 'cookie')
    characters += name.length + (value?.length ?? 0)
  }
  return characters > MAX_CHARACTERS
    ? undefined
    : Object.freeze({ method, httpVersion, scheme, ja4, http2Window, userAgent, hasCookies, fields })
}

/** Reports whether a request has the same names, in their order and spelling, and the same values that count. */
export function hasFingerprint(request: InspectionRequest, known: RequestFingerprint): boolean {
  const { method, httpVersion, scheme, ja4, fields } = request
  if (fields.length !== known.fields.length) return false
  for (let at = 0; at < fields.length; at++) {
    const text = known.fields[at]
    if (text !== undefined && fields[at] !== text) return false
  }
  if (request.http2Window !== known.http2Window) return false
  return method === known.method && httpVersion === known.httpVersion && scheme === known.scheme && ja4 === known.ja4
}
