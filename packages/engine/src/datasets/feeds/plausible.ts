import { counted } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import type { Generation } from '../sources/feed-state.ts'

/** Lists shorter than this may shrink by any share. */
const SHORT_LIST = 8

/** Lists may always grow by so many entries, however short they are. */
const FREE_GROWTH = 100

/**
 * Returns why a feed with so many entries is refused, or `undefined`. `published` is false when the user configures another URL than the
 * table: the size of the published list says nothing of that one.
 */
export function implausible(
  { entries: bounds }: SourceRow,
  entries: number,
  published: boolean,
  current: Generation | undefined,
): string | undefined {
  if (bounds !== undefined && published && entries < bounds.min) {
    return `it has ${entries} where at least ${bounds.min} entries are plausible`
  }
  if (bounds !== undefined && entries > bounds.max)
    return `it has ${entries} where at most ${bounds.max} entries are plausible`
  if (current === undefined) return undefined
  if (current.entries >= SHORT_LIST && entries * 2 < current.entries) {
    return `it has ${entries}, less than half of the ${current.entries} entries before`
  }
  if (entries > current.entries * 2 + FREE_GROWTH) {
    return `it has ${entries}, more than twice the ${counted(current.entries, 'entry', 'entries')} before`
  }
  return undefined
}
