import { type Address, formatAddress } from '../address/address.ts'
import { type Client, type ClientTrust, clientBehind, readPeer } from '../address/client.ts'
import { isNamed } from '../address/forwarding.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { Observation, Snapshot } from '../ports.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedClient } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { NetworkClass } from '../vocabulary.ts'
import type { Ruling } from './decide.ts'
import { type Asks, isRepeated, type Look } from './last-look.ts'
import { createVisitorMemory, type FoundBy } from './visitor-memory.ts'

/**
 * Who is at the other end, and all that is known of that by the address. One object with what the last request came to:
 * what lies together is read together.
 */
export interface Visitor extends Look, FoundBy {
  /** What was said of the address by hand or by its name when the rest was looked up. */
  readonly observation: Observation | undefined
  readonly address: Address | undefined
  readonly network: NetworkFinding
  /** Of the network, as it is told: its class, and `AS64500`; absent when unknown. */
  readonly networkClass: NetworkClass
  readonly asn: string | undefined
  /** Country the address is used in; absent when unknown. */
  readonly country: string | undefined
  readonly client: InspectedClient
  readonly remembered: boolean
}

/** A visitor of whom nothing is left to be found out. */
export type Settled = Visitor & { readonly asks: Asks; readonly ruling: Ruling }

/** Finds out who is at the other end. Whoever came twice is remembered: most come again, and some never do. */
export interface Visitors {
  /** A visitor whose last request showed the same and was ruled for good; `undefined` where more has to be looked at. */
  again(request: InspectionRequest, snapshot: Snapshot, now: number): Settled | undefined
  of(request: InspectionRequest, snapshot: Snapshot, now: number): Visitor
}

/**
 * Marks of visitors that came: a flood of others, once each, drives nobody out of memory. A power of two, and many times
 * as many as are remembered: of two that take turns at one place neither is ever known.
 */
const MARKS = 65_536

/** An address with a port: of a longer list each hop is read each time. */
const LONGEST_LINE = 64

/** Numbers of fields that are told apart. */
const PLACES = 128

const DAY_MS = 86_400_000

/** Remembers for as long as a snapshot is in use, and up to midnight UTC, when lists grow a day older. */
export function createVisitors(trust: ClientTrust): Visitors {
  const memory = createVisitorMemory<Visitor>()
  let known: Snapshot | undefined
  let dayStart = Number.NaN
  const marks = new Uint32Array(MARKS)
  // Behind a proxy it is the same for long.
  let peerText = ''
  let lastPeer = readPeer('', trust)
  // Where the configured header stood in the last request of so many fields, and how it was spelled: a proxy puts it
  // before what came, or behind.
  const places = new Int16Array(PLACES).fill(ABSENT)
  let spelling = trust.header

  function clientOf({ peer, fields }: InspectionRequest, first?: number, last?: number): Client {
    if (peer !== peerText) {
      lastPeer = readPeer(peer, trust)
      peerText = peer
    }
    return clientBehind(lastPeer, fields, trust, first, last)
  }

  /** Whether this address was the last of its mark's place to come. */
  function cameBefore(address: Address | undefined): boolean {
    if (address === undefined) return false
    const mark = markOf(address)
    const place = mark & (MARKS - 1)
    const before = marks[place] === mark
    marks[place] = mark
    return before
  }

  function isOfToday(snapshot: Snapshot, now: number): boolean {
    return snapshot === known && now >= dayStart && now < dayStart + DAY_MS
  }

  return {
    again(request, snapshot, now) {
      const { peer, fields } = request
      if (!isOfToday(snapshot, now)) return undefined
      const place = trust.empty ? ABSENT : (places[fields.length % PLACES] as number)
      if (place >= 0 && fields[place] !== spelling) return undefined
      const found = memory.find(peer, place < 0 ? '' : (fields[place + 1] ?? ''))
      // What it showed before had the header there and nowhere else, or not at all, and this request has the same names.
      return isRepeatedBy(found, request) && holds(found, snapshot) ? found : undefined
    },
    of(request, snapshot, now) {
      if (!isOfToday(snapshot, now)) {
        memory.forget()
        known = snapshot
        dayStart = Math.floor(now / DAY_MS) * DAY_MS
      }
      const { peer, fields } = request
      const place = trust.empty ? ABSENT : placeOf(fields, trust.header, spelling)
      if (place === MANY) return visitorOf(clientOf(request), snapshot)
      const line = place === ABSENT ? '' : (fields[place + 1] ?? '')
      if (line.length > LONGEST_LINE) return visitorOf(clientOf(request), snapshot)
      places[fields.length % PLACES] = place
      if (place >= 0) spelling = fields[place] as string
      const found = memory.find(peer, line)
      if (found !== undefined && holds(found, snapshot)) return found
      // Nothing else has the name: from 0 to `ABSENT` there is no field at all.
      const resolved = clientOf(request, Math.max(place, 0), place)
      const again = cameBefore(resolved.address)
      if (!again) return visitorOf(resolved, snapshot)
      // Asked for first: where it runs out while the rest is looked up, the next request looks again.
      const observation = observationOf(resolved, snapshot)
      const visitor = visitorOf(resolved, snapshot, { peer, line, observation })
      memory.keep(visitor)
      return visitor
    },
  }
}

/** A number that few addresses share. */
function markOf({ a, b, c, d }: Address): number {
  let mark = Math.imul(a ^ Math.imul(b, 31), 0x9e3779b1)
  mark = Math.imul(mark ^ c, 0x85ebca6b) ^ d
  mark = Math.imul(mark ^ (mark >>> 15), 0xc2b2ae35)
  return (mark ^ (mark >>> 13)) >>> 0
}

/** What `placeOf` answers where there is none, and where there are several or an empty one. */
const ABSENT = -2
const MANY = -1

/** The place of the only field of a name, in lower case, that says something; `spelling` is how it is mostly written. */
function placeOf(fields: readonly string[], name: string, spelling: string): number {
  let place = ABSENT
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] as string
    if (field !== spelling && !isNamed(field, name)) continue
    if (place !== ABSENT || fields[at + 1] === '') return MANY
    place = at
  }
  return place
}

/** Whether a visitor's last request is ruled for good, and this one shows the same. */
function isRepeatedBy(visitor: Visitor | undefined, request: InspectionRequest): visitor is Settled {
  if (visitor?.ruling === undefined || visitor.shown === undefined) return false
  return isRepeated(request, visitor.shown)
}

/** Observations are made and run out at any moment; the rest holds as long as the snapshot. */
function holds(visitor: Visitor, snapshot: Snapshot): boolean {
  return observationOf(visitor, snapshot) === visitor.observation
}

function observationOf({ address }: Pick<Visitor, 'address'>, { observations }: Snapshot): Observation | undefined {
  return address === undefined ? undefined : observations?.find(address)
}

/** Looks everything up that an address tells. */
export function visitorOf(
  { address, via, malformed }: Client,
  snapshot: Snapshot,
  foundBy?: FoundBy & Pick<Visitor, 'observation'>,
): Visitor {
  const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
  const country = address === undefined || network.reserved.reserved ? undefined : snapshot.countries?.find(address)
  const client = Object.freeze({ address: address === undefined ? '' : formatAddress(address), via, malformed })
  const { peer = '', line = '', observation } = foundBy ?? {}
  const { asn } = network
  // In the order in which a request that comes again reads it.
  return {
    line,
    peer,
    observation,
    address,
    shown: undefined,
    asks: undefined,
    ruling: undefined,
    network,
    networkClass: network.verdict.classification,
    asn: asn === undefined ? undefined : `AS${asn}`,
    country,
    rules: undefined,
    client,
    remembered: foundBy !== undefined,
  }
}
