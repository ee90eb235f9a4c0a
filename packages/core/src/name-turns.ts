import type { Address } from './address/address.ts'
import { formatPrefix, prefixOf } from './address/prefix.ts'
import { SallyportError } from './errors.ts'

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

interface Places {
  taken: number
  readonly waiting: (() => void)[]
}

export function createNameTurns(): NameTurns {
  const clients = new Map<string, Places>()

  function release(client: string, places: Places): void {
    const next = places.waiting.shift()
    if (next === undefined) {
      places.taken--
      if (places.taken === 0) clients.delete(client)
    } else next()
  }

  function take(client: string): (() => void) | undefined {
    const places = clients.get(client) ?? { taken: 0, waiting: [] }
    if (places.taken >= MAX_NAMES_AT_ONCE) return undefined
    places.taken++
    clients.set(client, places)
    return () => release(client, places)
  }

  /** The place passes from the one that ended to the one that waited longest. */
  async function turnOf(client: string): Promise<() => void> {
    const free = take(client)
    if (free !== undefined) return free
    const places = clients.get(client) as Places
    if (places.waiting.length >= MAX_NAMES_WAITING) {
      throw new SallyportError('rate_limit_exceeded', 'Too many name lookups of this client are waiting.')
    }
    await new Promise<void>((resolve) => places.waiting.push(resolve))
    return () => release(client, places)
  }

  return {
    take,
    async run(client, lookUp) {
      const done = await turnOf(client)
      try {
        return await lookUp()
      } finally {
        done()
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
