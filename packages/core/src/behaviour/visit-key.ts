import { clientKey } from '../counting/keys.ts'
import { hashText } from '../hash-text.ts'
import type { InspectedClient } from '../values/inspection.ts'

/** Keeps the key of a client's last visit and its inputs. */
interface KeptKey {
  readonly key: number
  readonly userAgent: string
  readonly site: string
  readonly seed: number
}

/** An observed request keeps no more characters of a user agent. */
const MAX_USER_AGENT = 400

/** Makes keys of visits. The key of a client's last visit is kept for as long as its visitor is remembered. */
export function createVisitKeys(readSeed: () => number) {
  const kept = new WeakMap<InspectedClient, KeptKey>()

  return (client: InspectedClient, user: string | undefined, userAgent: string, site: string): number => {
    const seed = readSeed()
    if (user !== undefined) return makeKey(seed, `user ${site} ${user}`)
    const known = kept.get(client)
    if (known !== undefined && known.userAgent === userAgent && known.site === site && known.seed === seed)
      return known.key
    const agent = userAgent.slice(0, MAX_USER_AGENT)
    const key = makeKey(seed, `${clientKey(client.address).narrow} ${site} ${agent}`)
    kept.set(client, { key, userAgent, site, seed })
    return key
  }
}

/** Makes a whole number of 53 bits from two hashes that begin with different secrets. */
function makeKey(seed: number, text: string): number {
  const [low, high] = [hashText(text, seed), hashText(text, ~seed)]
  return ((low ^ (low >>> 15)) >>> 0) + (high >>> 11) * 2 ** 32
}
