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
    return `the file has ${counted(entries, 'entry', 'entries')}, but at least ${bounds.min} are plausible`
  }
  if (bounds !== undefined && entries > bounds.max)
    return `the file has ${counted(entries, 'entry', 'entries')}, but at most ${bounds.max} are plausible`
  if (current === undefined) return undefined
  if (current.entries >= SHORT_LIST && entries * 2 < current.entries) {
    return `the file has ${counted(entries, 'entry', 'entries')}, less than half of the previous ${current.entries}`
  }
  if (entries > current.entries * 2 + FREE_GROWTH) {
    return `the file has ${counted(entries, 'entry', 'entries')}, more than twice the previous ${current.entries}`
  }
  return undefined
}
