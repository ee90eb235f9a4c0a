import type { Columns, Description } from '../format/tables.ts'
import { layOut } from '../ranges/layout.ts'
import { createRangeWriter, entryAt, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { fourWords } from './crawlers.ts'
import type { PlaceList } from './parts.ts'

type PlaceColumns = Pick<Columns, Extract<keyof Columns, `places${string}`>>

/** Lays the places of all geofeeds over each other: of two that hold an address the smaller prefix counts, then the first. */
export function compilePlaces(
  lists: readonly PlaceList[],
): { readonly columns: PlaceColumns } & Pick<Description, 'places'> {
  const places = lists.flatMap(({ source, places: own }) => own.map((place) => ({ source, ...place })))
  const together = (family: 4 | 6) => {
    const writer = createRangeWriter(family)
    let before = 0
    for (const { ranges, places: own } of lists) {
      addAll(ranges[family], before + 1, writer.add)
      before += own.length
    }
    return layOut(writer.finish())
  }
  const [four, six] = FAMILIES.map(together) as [ReturnType<typeof together>, ReturnType<typeof together>]
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

function addAll(ranges: Ranges, from: number, add: ReturnType<typeof createRangeWriter>['add']): void {
  for (let range = 0; range < ranges.count; range++) {
    const { first, last } = entryAt(ranges, range)
    add(first, last, from + (ranges.values[range] as number))
  }
}
