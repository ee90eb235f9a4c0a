import { type Address, errorText, formatAddress, parseAddress, SallyportError } from '@sallyport/core'
import type { Settings } from '#settings'
import { logPlaces } from './log.ts'
import { type ErasedPlace, iso, type KnownPlace, type PrivacyPlace } from './place.ts'
import { storePlaces } from './stores.ts'

/** Lists what is known of one address, place by place. */
export interface Known {
  readonly address: string
  readonly at: string
  /** False if a place did not answer. */
  readonly complete: boolean
  readonly places: readonly KnownPlace[]
}

/** Lists the outcome of an erasure, place by place. */
export interface Erasure {
  readonly address: string
  readonly complete: boolean
  readonly places: readonly ErasedPlace[]
}

/** Memory holds addresses too, but no command can search it. */
const IN_MEMORY = {
  place: 'memory of running services',
  where: 'each process',
  kept: 'counters: their window; visitors: until eviction; everything: until a restart',
  reason: 'current visitors, and counters kept in memory; the console has its own entry',
} as const

/** Exports what is known of an address. A place that cannot be read is listed with the reason. Throws `invalid_ip`. No data is loaded. */
export async function exportKnown(config: Settings, text: string): Promise<Known> {
  const [address, canonical] = readAddress(text)
  const places = await Promise.all(listPlaces(config).map((place) => found(place, address, canonical)))
  const memory: KnownPlace = { ...IN_MEMORY, state: 'elsewhere', entries: [] }
  return { address: canonical, at: iso(Date.now()), complete: isComplete(places), places: [...places, memory] }
}

/** Erases an address from every place that permits it, and lists what remains. Throws `invalid_ip`. */
export async function eraseKnown(config: Settings, text: string): Promise<Erasure> {
  const [address, canonical] = readAddress(text)
  const places = await Promise.all(listPlaces(config).map((place) => erased(place, address, canonical)))
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

async function found(
  { place, where, kept, exists, find }: PrivacyPlace,
  address: Address,
  text: string,
): Promise<KnownPlace> {
  const said = { place, where, kept }
  try {
    if (!exists()) return { ...said, state: 'absent', entries: [] }
    const { entries, elsewhere } = await find(address, text)
    if (elsewhere !== undefined) return { ...said, state: 'elsewhere', reason: elsewhere, entries }
    return { ...said, state: 'read', entries }
  } catch (error) {
    return { ...said, state: 'unreachable', reason: errorText(error), entries: [] }
  }
}

async function erased(
  { place, where, exists, erase }: PrivacyPlace,
  address: Address,
  text: string,
): Promise<ErasedPlace> {
  const said = { place, where }
  try {
    if (!exists()) return { ...said, state: 'absent', erased: 0 }
    const { erased, stays } = await erase(address, text)
    return stays === undefined
      ? { ...said, state: 'erased', erased }
      : { ...said, state: 'kept', reason: stays, erased }
  } catch (error) {
    return { ...said, state: 'unreachable', reason: errorText(error), erased: 0 }
  }
}

function isComplete(places: readonly { readonly state: string }[]): boolean {
  return places.every(({ state }) => state !== 'unreachable')
}
