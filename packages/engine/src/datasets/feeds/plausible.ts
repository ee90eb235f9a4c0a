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
  const found = `the file has ${counted(entries, 'entry', 'entries')}`
  if (bounds !== undefined && published && entries < bounds.min)
    return `${found}, but at least ${bounds.min} are plausible`
  if (bounds !== undefined && entries > bounds.max) return `${found}, but at most ${bounds.max} are plausible`
  const before = current?.entries
  if (before === undefined) return undefined
  if (before >= SHORT_LIST && entries * 2 < before) return `${found}, less than half of the previous ${before}`
  return entries > before * 2 + FREE_GROWTH ? `${found}, more than twice the previous ${before}` : undefined
}
