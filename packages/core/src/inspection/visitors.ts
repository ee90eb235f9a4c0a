import { type Address, formatAddress } from '../address/address.ts'
import { type Client, type ClientTrust, clientBehind, readPeer } from '../address/client.ts'
import { isNamed } from '../address/forwarding.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { NetworkFinding } from '../network/finding.ts'
import type { Observation, Snapshot } from '../ports.ts'
import type { NetworkClass } from '../vocabulary.ts'
import type { InspectedClient } from './inspection.ts'
import type { Look } from './last-look.ts'
import type { InspectionRequest } from './request.ts'
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

/** Finds out who is at the other end. Whoever came twice is remembered: most come again, and some never do. */
export interface Visitors {
  of(request: InspectionRequest, snapshot: Snapshot, now: number): Visitor
}

/**
 * Marks of visitors that came: a flood of others, once each, drives nobody out of memory. A power of two, and many times
 * as many as are remembered: of two that take turns at one place neither is ever known.
 */
const MARKS = 65_536

/** An address with a port: of a longer list each hop is read each time. */
const LONGEST_LINE = 64

const DAY_MS = 86_400_000

/** Remembers for as long as a snapshot is in use, and up to midnight UTC, when lists grow a day older. */
export function createVisitors(trust: ClientTrust): Visitors {
  const memory = createVisitorMemory<Visitor>()
  let known: Snapshot | undefined
  let day = Number.NaN
  const marks = new Uint32Array(MARKS)
  // Behind a proxy it is the same for long.
  let peerText = ''
  let lastPeer = readPeer('', trust)

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

  return {
    of(request, snapshot, now) {
      const today = Math.floor(now / DAY_MS)
      if (snapshot !== known || today !== day) {
        memory.forget()
        known = snapshot
        day = today
      }
      const { peer, fields } = request
      const place = trust.empty ? ABSENT : placeOf(fields, trust.header)
      if (place === MANY) return visitorOf(clientOf(request), snapshot)
      const line = place === ABSENT ? '' : (fields[place + 1] ?? '')
      if (line.length > LONGEST_LINE) return visitorOf(clientOf(request), snapshot)
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

/** The place of the only field of a name, in lower case, that says something. */
function placeOf(fields: readonly string[], name: string): number {
  let place = ABSENT
  for (let at = 0; at < fields.length; at += 2) {
    if (!isNamed(fields[at] as string, name)) continue
    if (place !== ABSENT || fields[at + 1] === '') return MANY
    place = at
  }
  return place
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
