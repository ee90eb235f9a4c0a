import type { Address } from './address/address.ts'
import { formatPrefix, prefixOf } from './address/prefix.ts'
import { SallyportError } from './errors.ts'
import { createPlaces, type Places } from './places.ts'

/** Look-ups of names that one client has under way at a time, and that wait for it. */
export const MAX_NAMES_AT_ONCE = 4
export const MAX_NAMES_WAITING = 16

/**
 * Turns of clients at what looks up names: resolvers and registries may be a stranger's own and slow, and there are not
 * many places. Clients are texts: what `nameClient` gives, or an account.
 */
export interface NameTurns {
  /** Takes a place at once; `undefined` where the client has them all. Call the result once, when the look-up has ended. */
  take(client: string): (() => void) | undefined
  /** Runs a look-up when a place is free; rejects with `rate_limit_exceeded` where too many of the client wait. */
  run<T>(client: string, lookUp: () => Promise<T>): Promise<T>
}

export function createNameTurns(): NameTurns {
  const clients = new Map<string, Places>()

  function forgetIdle(client: string, places: Places): void {
    if (places.taken === 0) clients.delete(client)
  }

  function placesOf(client: string): Places {
    const places = clients.get(client) ?? createPlaces(MAX_NAMES_AT_ONCE)
    clients.set(client, places)
    return places
  }

  return {
    take(client) {
      const places = placesOf(client)
      const release = places.take()
      if (release === undefined) return undefined
      return () => {
        release()
        forgetIdle(client, places)
      }
    },
    async run(client, lookUp) {
      const places = placesOf(client)
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

/** The client of a look-up: an IPv4 address, the /48 of an IPv6 one; all whose address is not known are one. */
export function nameClient(address: Address | undefined): string {
  if (address === undefined) return ''
  return formatPrefix(prefixOf(address, address.family === 4 ? 32 : SITE_LENGTH))
}
