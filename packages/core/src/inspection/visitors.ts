import { LRUCache } from 'lru-cache'
import { type Address, formatAddress } from '../address/address.ts'
import { type Client, type ClientTrust, clientBehind, readPeer } from '../address/client.ts'
import { isNamed } from '../address/forwarding.ts'
import { classify, NOTHING_KNOWN } from '../network/classify.ts'
import type { NetworkFinding } from '../network/finding.ts'
import type { Observation, Snapshot } from '../ports.ts'
import type { InspectedClient } from './inspection.ts'
import type { LastLook } from './last-look.ts'
import type { InspectionRequest } from './request.ts'

/** Who is at the other end, and all that is known of that by the address. */
export interface Visitor {
  readonly address: Address | undefined
  readonly client: InspectedClient
  readonly network: NetworkFinding
  /** Country the address is used in; absent when unknown. */
  readonly country: string | undefined
  readonly remembered: boolean
  /** What the last request of a visitor that is remembered came to; whoever looks at one keeps it here. */
  last: LastLook | undefined
}

/** Finds out who is at the other end. Whoever came twice is remembered: most come again, and some never do. */
export interface Visitors {
  of(request: InspectionRequest, snapshot: Snapshot, now: number): Visitor
}

/** A visitor that was found before, what it was found by, and what was said of the address by hand or by its name. */
interface Remembered {
  readonly visitor: Visitor
  readonly peer: string
  readonly line: string
  readonly observation: Observation | undefined
}

/** Visitors that are remembered: those of some minutes at a busy site. */
const MOST_REMEMBERED = 2048

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
  const remembered = new LRUCache<string, Remembered>({ max: MOST_REMEMBERED })
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
        remembered.clear()
        known = snapshot
        day = today
      }
      const { peer, fields } = request
      const place = trust.empty ? ABSENT : placeOf(fields, trust.header)
      if (place === MANY) return visitorOf(clientOf(request), snapshot)
      const line = place === ABSENT ? '' : (fields[place + 1] ?? '')
      if (line.length > LONGEST_LINE) return visitorOf(clientOf(request), snapshot)
      const key = line === '' ? peer : line
      const found = remembered.get(key)
      if (found !== undefined && found.line === line && found.peer === peer && holds(found, snapshot)) {
        return found.visitor
      }
      // Nothing else has the name: from 0 to `ABSENT` there is no field at all.
      const resolved = clientOf(request, Math.max(place, 0), place)
      const again = cameBefore(resolved.address)
      // Asked for first: where it runs out while the rest is looked up, the next request looks again.
      const observation = again ? observationOf(resolved, snapshot) : undefined
      const visitor = visitorOf(resolved, snapshot, again)
      if (again) remembered.set(key, { visitor, peer, line, observation })
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
function holds({ visitor, observation }: Remembered, snapshot: Snapshot): boolean {
  return observationOf(visitor, snapshot) === observation
}

function observationOf({ address }: Pick<Visitor, 'address'>, { observations }: Snapshot): Observation | undefined {
  return address === undefined ? undefined : observations?.find(address)
}

/** Looks everything up that an address tells. */
export function visitorOf({ address, via, malformed }: Client, snapshot: Snapshot, remembered = false): Visitor {
  const network = address === undefined ? NOTHING_KNOWN : classify(address, snapshot)
  const country = address === undefined || network.reserved.reserved ? undefined : snapshot.countries?.find(address)
  const client = Object.freeze({ address: address === undefined ? '' : formatAddress(address), via, malformed })
  return { address, client, network, country, remembered, last: undefined }
}
