import { REGIONS } from '@sallyport/data/regions'
import type { Address } from '../address/address.ts'
import { lazily } from '../lazily.ts'
import type { Snapshot } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedRegion, NamedRegion, RegionDoubt } from '../values/region.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { isDisputed } from './codes.ts'

/** A source is right for these shares of lines; clear city files were for 90 of 100 held-out lines in the US, 76 in Canada. */
const RIGHT: Readonly<Record<NamedRegion['basis'], number>> = { geofeed: 0.98, city: 0.75 }

/** Clients of these classes are elsewhere than their addresses. */
const ELSEWHERE: Readonly<Partial<Record<NetworkClass, RegionDoubt>>> = {
  mobile: 'carrier',
  hosting: 'server',
  datacenter: 'server',
}

const satellites = lazily(() => new Set(REGIONS.satellites.asns))

/** Returns the region of an address, or why it is not known; `undefined` where no data of regions is open. */
export function locateRegion(
  address: Address | undefined,
  network: NetworkFinding,
  { regions }: Pick<Snapshot, 'regions'>,
): InspectedRegion | undefined {
  if (regions === undefined) return undefined
  const found = address && regions.find(address)
  const doubt = findDoubt(network)
  if (found === undefined || doubt !== undefined) return doubtful(doubt ?? 'no_data')
  if (isDisputed(found.code)) return doubtful('disputed')
  return found.isVague ? doubtful('unsure') : Object.freeze({ ...found, confidence: RIGHT[found.basis] })
}

/** Says why the place of an address is not the place of its client. */
function findDoubt({ reserved, verdict, asn }: NetworkFinding): RegionDoubt | undefined {
  if (reserved.reserved) return 'reserved'
  if (anonymises(verdict.classification)) return 'hidden'
  if (asn !== undefined && satellites().has(asn)) return 'satellite'
  return ELSEWHERE[verdict.classification]
}

const doubtful = (doubt: RegionDoubt): InspectedRegion => Object.freeze({ doubt })
