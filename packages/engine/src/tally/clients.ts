import { hash } from 'node:crypto'
import { clientKey, DAY_MS } from '@sallyport/core'
import { placeOf } from './sketch.ts'

/** Clients whose place is remembered: as many as the inspector remembers. */
const MAX_KNOWN = 24_576

/** Returns a client's place in the sketches of its day; `at` is in milliseconds since the epoch. */
export type PlaceOfClient = (client: string, at: number) => number

/**
 * Places by a hash that begins with a key which goes with the day, so that nobody can try addresses on a sketch later. An
 * HMAC takes five times as long, and guards what is not shown here; a hash takes ten times as long as looking a client up.
 * `ipv6Prefix`: bits of IPv6 that are one client.
 */
export function createPlaces(keyAt: (at: number) => Buffer, ipv6Prefix: number): PlaceOfClient {
  const known = new Map<string, number>()
  let endOfDay = 0
  let key = ''
  return (client, at) => {
    if (at >= endOfDay) {
      known.clear()
      endOfDay = (Math.floor(at / DAY_MS) + 1) * DAY_MS
      key = `tally ${keyAt(at).toString('hex')} `
    }
    const before = known.get(client)
    if (before !== undefined) return before
    if (known.size >= MAX_KNOWN) known.clear()
    const hashed = hash('sha256', key + clientKey(client, ipv6Prefix).narrow)
    const place = placeOf(Number.parseInt(hashed.slice(0, 8), 16), Number.parseInt(hashed.slice(8, 16), 16))
    known.set(client, place)
    return place
  }
}
