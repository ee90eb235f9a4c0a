import { open } from '@sallyport/engine'
import { browserFields, makeRequest } from './browser.ts'

/** Addresses of the routed IPv4 space by a small seeded generator, so that every run asks the same ones. */
export function visitorAddresses(count: number): readonly string[] {
  const addresses: string[] = []
  let state = 20_261_121
  while (addresses.length < count) {
    // xorshift32 is even enough for a bench, and the same on every machine.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const first = (state >>> 24) % 224
    if (first === 0 || first === 10 || first === 127) continue
    addresses.push(`${first}.${(state >>> 16) & 255}.${(state >>> 8) & 255}.${state & 255}`)
  }
  return addresses
}

/** This many drawn addresses include enough of either kind. */
const DRAWN = 10_000

/**
 * Visitors with browsers, of whom one in so many is flagged for the network, by the default policy and the data in use. The
 * address space is no site's traffic: people sit in a part of it.
 */
export async function siteVisitors(count: number, oneFlaggedIn: number): Promise<readonly string[]> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false } })
  const kinds: Readonly<Record<string, string[]>> = { allow: [], flag: [] }
  for (const address of visitorAddresses(DRAWN)) {
    const { action } = sallyport.decide(makeRequest({ fields: browserFields(address) }))
    kinds[action]?.push(address)
  }
  await sallyport.close()
  return Array.from({ length: count }, (_, at) => {
    const address = kinds[at % oneFlaggedIn === 0 ? 'flag' : 'allow']?.[at]
    if (address === undefined) throw new Error(`not ${count} visitors of either kind among ${DRAWN} addresses`)
    return address
  })
}
