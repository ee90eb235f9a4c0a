import { finish, STEP, type Steps } from '../steps.ts'
import type { Address } from './address.ts'
import type { Prefix } from './prefix.ts'
import { isWithin, lastNotAbove, readStart, type SortedPrefixes, sortPrefixes } from './sorted-prefixes.ts'

export interface PrefixSet {
  has(address: Address): boolean
}

export function createPrefixSet(prefixes: Iterable<Prefix>): PrefixSet {
  return finish(prefixSetSteps([...prefixes]))
}

/** Builds the set in steps, so that a large set does not block requests. */
export function* prefixSetSteps(prefixes: readonly Prefix[]): Steps<PrefixSet> {
  const four = yield* dropNested(yield* sortPrefixes(prefixes, 4))
  const six = yield* dropNested(yield* sortPrefixes(prefixes, 6))
  return {
    has(address) {
      const layout = address.family === 4 ? four : six
      const at = lastNotAbove(layout.starts, address)
      return at >= 0 && isWithin(layout, at, address)
    },
  }
}

/** Keeps the outermost prefixes, in place. Prefixes nest or are disjoint, and the wider of two with one start comes first. */
function* dropNested({ starts, bits }: SortedPrefixes): Steps<Pick<SortedPrefixes, 'starts' | 'bits'>> {
  const layout = { starts, bits }
  let kept = 0
  for (let at = 0; at < bits.length; at++) {
    if (at % STEP === STEP - 1) yield
    if (kept > 0 && isWithin(layout, kept - 1, readStart(layout, at))) continue
    starts.copyWithin(kept * 4, at * 4, at * 4 + 4)
    bits[kept++] = bits[at] as number
  }
  return { starts: starts.subarray(0, kept * 4), bits: bits.subarray(0, kept) }
}
