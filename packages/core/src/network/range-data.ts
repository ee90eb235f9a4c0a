import type { Snapshot } from '../ports.ts'

/** True when range data is missing or past its age: what it does not say then means little. `now` is in milliseconds. */
export function rangesAreDegraded({ rangesLoaded, rangesStaleAfter }: Snapshot, now: number): boolean {
  return !rangesLoaded || (rangesStaleAfter !== undefined && now >= rangesStaleAfter)
}
