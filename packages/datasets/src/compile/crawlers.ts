import type { Ranges } from '../parse/ranges.ts'
import type { Columns, Description } from '../tables/format.ts'
import { layOut, overlay, type Segments, uniform } from './segments.ts'

/** A list of published crawler ranges that was read. */
export interface CrawlerList {
  /** The crawler that it is named after; several may share it. */
  readonly slug: string
  readonly ranges: { readonly 4?: Ranges; readonly 6?: Ranges }
}

type CrawlerColumns = Pick<Columns, Extract<keyof Columns, `crawlers${string}`>>

/** Lays all lists of crawler ranges over each other: each segment has the set of lists that hold it. */
export function compileCrawlers(
  lists: readonly CrawlerList[],
): { readonly columns: CrawlerColumns } & Pick<Description, 'crawlers' | 'crawlerSets'> {
  const numbers = new Map([['', 0]])
  const sets: number[][] = [[]]
  const numberOf = (values: Uint32Array) => {
    const positions = [...values.keys()].filter((position) => values[position] !== 0)
    const key = positions.join()
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, sets.length)
    return sets.push(positions) - 1
  }
  const segmentsOf = (family: 4 | 6): Segments => {
    if (lists.length === 0) return uniform(0)
    const layers = lists.map(({ ranges: { [family]: ranges } }) =>
      ranges === undefined ? uniform(0) : layOut(ranges, family),
    )
    return overlay(layers, numberOf)
  }
  const four = segmentsOf(4)
  const six = segmentsOf(6)
  return {
    columns: {
      'crawlers4.starts': four.starts,
      'crawlers4.sets': four.values,
      'crawlers6.starts': six.starts,
      'crawlers6.sets': six.values,
    },
    crawlers: lists.map(({ slug }) => slug),
    crawlerSets: sets,
  }
}
