import type { Address } from './address/address.ts'
import { formatPrefix, makePrefix } from './address/prefix.ts'
import { SallyportError } from './errors.ts'
import { createPlaces, type Places } from './places.ts'

/** Limits the lookups of names that one client has in flight at a time, and that wait for it. */
export const MAX_NAMES_AT_ONCE = 4
export const MAX_NAMES_WAITING = 16

export type NameTurns = ReturnType<typeof createNameTurns>

/**
 * Bounds the lookups of names by client: resolvers and registries may be slow or belong to a stranger, and places are few. A client is a
 * text: the result of `nameClient`, or an account.
 */
export function createNameTurns() {
  const clients = new Map<string, Places>()

  function forgetIdle(client: string, places: Places): void {
    if (places.taken === 0) clients.delete(client)
  }

  function clientPlaces(client: string): Places {
    const places = clients.get(client) ?? createPlaces(MAX_NAMES_AT_ONCE)
    clients.set(client, places)
    return places
  }

  return {
    /** Takes a place at once; `undefined` where the client has them all. Call the result once, when the lookup has ended. */
    take(client: string): (() => void) | undefined {
      const places = clientPlaces(client)
      const release = places.take()
      if (release === undefined) return undefined
      return () => {
        release()
        forgetIdle(client, places)
      }
    },
    /** Runs a lookup when a place is free; rejects with `rate_limit_exceeded` where too many lookups of the client wait. */
    async run<T>(client: string, lookUp: () => Promise<T>): Promise<T> {
      const places = clientPlaces(client)
      if (places.waiting >= MAX_NAMES_WAITING) {
        throw new SallyportError('rate_limit_exceeded', 'Too many name lookups of this client are waiting.')
      }
      try {
        return await places.run(lookUp)
      } finally {
        forgetIdle(client, places)
      }
    },
  }
}

/** A site with one address of IPv6 commonly has the /48 around it, and may have its reverse zone. */
const SITE_LENGTH = 48

/** Names the client of a lookup: an IPv4 address, or the /48 of an IPv6 one; clients without a known address share a name. */
export function nameClient(address: Address | undefined): string {
  if (address === undefined) return ''
  return formatPrefix(makePrefix(address, address.family === 4 ? 32 : SITE_LENGTH))
}
