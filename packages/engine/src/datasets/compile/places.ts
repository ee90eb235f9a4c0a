import { layOut } from '../ranges/layout.ts'
import { createRangeWriter, entryAt } from '../ranges/ranges.ts'
import { fourWords } from './crawlers.ts'
import type { Parts } from './parts.ts'

/** Lays the places of all geofeeds over each other: of two that hold an address the smaller prefix counts, then the first. */
export function compilePlaces(lists: Parts['places']) {
  const places = lists.flatMap(({ source, places: own }) => own.map((place) => ({ source, ...place })))
  const layPlaces = (family: 4 | 6) => {
    const writer = createRangeWriter(family)
    let before = 1
    for (const { ranges, places: own } of lists) {
      for (let range = 0; range < ranges[family].count; range++) {
        const { first, last } = entryAt(ranges[family], range)
        writer.add(first, last, before + (ranges[family].values[range] as number))
      }
      before += own.length
    }
    return layOut(writer.finish())
  }
  const [four, six] = [layPlaces(4), layPlaces(6)]
  return {
    columns: {
      'places4.starts': fourWords(four),
      'places4.numbers': four.values,
      'places6.starts': six.starts,
      'places6.numbers': six.values,
    },
    places,
  }
}
