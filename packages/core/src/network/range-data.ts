import type { Snapshot } from '../ports.ts'

/**
 * True while a list of residential proxies is loaded that is not past its age: old lists have lost what they held, and
 * what is not in them means little. `now` is in milliseconds.
 */
export function proxiesAreSeen({ proxiesLoaded, proxiesStaleAfter }: Snapshot, now: number | undefined): boolean {
  return proxiesLoaded && (proxiesStaleAfter === undefined || now === undefined || now < proxiesStaleAfter)
}

/** True when range data is missing or past its age: what it does not say then means little. `now` is in milliseconds. */
export function rangesAreDegraded({ rangesLoaded, rangesStaleAfter }: Snapshot, now: number): boolean {
  return !rangesLoaded || (rangesStaleAfter !== undefined && now >= rangesStaleAfter)
}
