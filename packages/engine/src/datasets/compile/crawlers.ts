import { mapValues, type Ranges } from '../ranges/ranges.ts'
import type { Segments } from '../ranges/segments.ts'
import { layHits } from './hit-sets.ts'
import type { Parts } from './parts.ts'

/** Lays all lists of crawler ranges over each other: each segment has the set of lists that hold it. */
export function compileCrawlers(lists: Parts['crawlers']) {
  const { layers, sets } = layHits(
    lists.map(({ ranges }, position) => {
      const hits = (list: Ranges | undefined) => list && mapValues(list, () => position)
      return { 4: hits(ranges[4]), 6: hits(ranges[6]) }
    }),
  )
  return {
    columns: {
      'crawlers4.starts': fourWords(layers[4]),
      'crawlers4.sets': layers[4].values,
      'crawlers6.starts': layers[6].starts,
      'crawlers6.sets': layers[6].values,
    },
    crawlers: lists.map(({ slug }) => slug),
    crawlerSets: sets,
  }
}

/** Converts IPv4 starts to four words each, as IPv6 starts have. */
export function fourWords({ starts, count }: Segments): Uint32Array {
  const words = new Uint32Array(count * 4)
  for (let segment = 0; segment < count; segment++) words[segment * 4 + 3] = starts[segment] as number
  return words
}
