import { type NetworkClass, PRIVATE_RELAY, type RangeHit } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'

/** Describes the list behind a hit. Hits of one list differ only in how narrow their prefix is. */
export interface RangeSource extends Omit<RangeHit, 'narrow'> {
  /** Prefixes of one class, single addresses of one, or what an operator publishes for its crawlers. */
  readonly kind: SourceRow['kind']
  readonly trust: number
  readonly date: string
}

/** Reports whether a list names exits of VPN services. Relays are none of them: their lists are complete. */
export function hasExits(list: {
  readonly networkClass?: NetworkClass | undefined
  readonly provider?: string | undefined
}): boolean {
  return list.networkClass === 'vpn' && list.provider !== PRIVATE_RELAY
}

/** Encodes a hit of the list at `position` as one number: the list, and whether its prefix is narrow. */
export function hitCode(position: number, isNarrow: boolean): number {
  return position * 2 + (isNarrow ? 1 : 0)
}

/** Returns the position of the list that has the hit. */
export function findHitList(hit: number): number {
  return hit >>> 1
}

export function isNarrowHit(hit: number): boolean {
  return (hit & 1) === 1
}

/** Each is one bit of `records.flags`. */
export const IN_VPN_RANGES = 1
export const IN_DATACENTER_RANGES = 2
