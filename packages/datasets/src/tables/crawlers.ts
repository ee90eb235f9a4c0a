import { type CrawlerRanges, lastNotAbove } from '@sallyport/core'
import type { DecodedTables } from '../format/tables.ts'

/** The crawler ranges over the columns of a compiled file. */
export function openCrawlers({ columns, description }: DecodedTables): CrawlerRanges {
  const [starts4, starts6] = [columns['crawlers4.starts'], columns['crawlers6.starts']]
  const [sets4, sets6] = [columns['crawlers4.sets'], columns['crawlers6.sets']]
  const sets = description.crawlerSets.map((positions) =>
    Object.freeze([...new Set(positions.map((position) => description.crawlers[position] as string))]),
  )
  return {
    find(address) {
      const [starts, numbers] = address.family === 4 ? [starts4, sets4] : [starts6, sets6]
      return sets[numbers[lastNotAbove(starts, address)] as number] as readonly string[]
    },
  }
}
