import { type Address, errorText, formatAddress, parseAddress, SallyportError } from '@sallyport/core'
import type { Settings } from '#settings'
import { logPlaces } from './log.ts'
import { type ErasedPlace, iso, type KnownPlace, type PrivacyPlace } from './place.ts'
import { storePlaces } from './stores.ts'

/** Memory holds addresses too, but no command can search it. */
const IN_MEMORY = {
  place: 'memory of running services',
  where: 'each process',
  kept: 'counters: their window; visitors: until eviction; everything: until a restart',
  reason: 'current visitors, and counters kept in memory; the console has its own entry',
} as const

/** Exports what is known of an address. A place that cannot be read is listed with the reason. Throws `invalid_ip`. No data is loaded. */
export async function exportKnown(config: Settings, text: string) {
  const [address, canonical] = readAddress(text)
  const places = await Promise.all(listPlaces(config).map((place) => findIn(place, address, canonical)))
  const memory: KnownPlace = { ...IN_MEMORY, state: 'elsewhere', entries: [] }
  return { address: canonical, at: iso(Date.now()), complete: isComplete(places), places: [...places, memory] }
}

/** Erases an address from every place that permits it, and lists what remains. Throws `invalid_ip`. */
export async function eraseKnown(config: Settings, text: string) {
  const [address, canonical] = readAddress(text)
  const places = await Promise.all(listPlaces(config).map((place) => eraseFrom(place, address, canonical)))
  const { place, where, reason } = IN_MEMORY
  const memory: ErasedPlace = { place, where, reason, state: 'kept', erased: 0 }
  return { address: canonical, complete: isComplete(places), places: [...places, memory] }
}

function listPlaces(config: Settings): readonly PrivacyPlace[] {
  return [...storePlaces(config), ...logPlaces(config)]
}

function readAddress(text: string): readonly [Address, string] {
  const address = parseAddress(text)
  if (address === undefined) throw new SallyportError('invalid_ip', `Not an address: ${text}`)
  return [address, formatAddress(address)]
}

function findIn(place: PrivacyPlace, address: Address, text: string): Promise<KnownPlace> {
  const { where, kept } = place
  return visit<KnownPlace>(place, { place: place.place, where, kept, state: 'absent', entries: [] }, async () => {
    const { entries, elsewhere } = await place.find(address, text)
    return elsewhere === undefined ? { state: 'read', entries } : { state: 'elsewhere', reason: elsewhere, entries }
  })
}

function eraseFrom(place: PrivacyPlace, address: Address, text: string): Promise<ErasedPlace> {
  return visit<ErasedPlace>(place, { place: place.place, where: place.where, state: 'absent', erased: 0 }, async () => {
    const { erased, stays } = await place.erase(address, text)
    return stays === undefined ? { state: 'erased', erased } : { state: 'kept', reason: stays, erased }
  })
}

async function visit<Visited extends KnownPlace | ErasedPlace>(
  { exists }: PrivacyPlace,
  absent: Visited,
  work: () => Promise<Partial<Visited>>,
): Promise<Visited> {
  try {
    return exists() ? { ...absent, ...(await work()) } : absent
  } catch (error) {
    return { ...absent, state: 'unreachable', reason: errorText(error) }
  }
}

/** False if a place did not answer. */
function isComplete(places: readonly { readonly state: string }[]): boolean {
  return places.every(({ state }) => state !== 'unreachable')
}
