import { hash } from 'node:crypto'
import { clientKey, DAY_MS } from '@sallyport/core'
import { packPlace } from './sketch.ts'

/** Clients whose place is remembered: as many as the inspector remembers. */
const MAX_KNOWN = 24_576

/** Returns a client's place in the sketches of its day; `at` is in milliseconds since the epoch. */
export type PlaceOfClient = (client: string, at: number) => number

/**
 * Creates places by a hash that begins with a key of the day, so that addresses cannot be tried on a sketch later. An HMAC takes five times
 * as long, and guards what is not shown here; a hash takes ten times as long as looking a client up.
 */
export function createPlaces(keyAt: (at: number) => Buffer): PlaceOfClient {
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
    const hashed = hash('sha256', key + clientKey(client).narrow)
    const place = packPlace(Number.parseInt(hashed.slice(0, 8), 16), Number.parseInt(hashed.slice(8, 16), 16))
    known.set(client, place)
    return place
  }
}
