import { createHmac } from 'node:crypto'
import { clientKey } from '@sallyport/core'
import { placeOf } from './sketch.ts'

/** Clients whose place is remembered: as many as the inspector remembers. */
const MAX_KNOWN = 24_576

const DAY_MS = 86_400_000

/** Returns a client's place in the sketches of its day; `at` is in milliseconds since the epoch. */
export type PlaceOfClient = (client: string, at: number) => number

/**
 * Places by a keyed hash whose key goes with the day, so that nobody can try addresses on a sketch later (D526). A hash takes
 * a hundred times as long as looking a client up. `ipv6Prefix`: bits of IPv6 that are one client.
 */
export function createPlaces(keyAt: (at: number) => Buffer, ipv6Prefix: number): PlaceOfClient {
  const known = new Map<string, number>()
  let endOfDay = 0
  return (client, at) => {
    if (at >= endOfDay) {
      known.clear()
      endOfDay = (Math.floor(at / DAY_MS) + 1) * DAY_MS
    }
    const before = known.get(client)
    if (before !== undefined) return before
    if (known.size >= MAX_KNOWN) known.clear()
    const hash = createHmac('sha256', keyAt(at))
      .update(`tally ${clientKey(client, ipv6Prefix).narrow}`)
      .digest()
    const place = placeOf(hash.readUInt32BE(0), hash.readUInt32BE(4))
    known.set(client, place)
    return place
  }
}
