import { createPartition6Writer } from '@sallyport/core'
import { type CityColumns, ID_BYTES } from '../format/city.ts'
import { partition4, pickPartitions, type SegmentVisitor, valueColumns, visitSegments } from '../format/partitions.ts'
import { createSegmentWriter } from '../ranges/segments.ts'

/** Picks the countries from a city file's columns. Neighbouring segments of one country become one segment. */
export function pickCountries(city: CityColumns) {
  const countries = city['records.countries']
  const partitions = pickPartitions(city, 'four', 'six')
  /** Passes each segment on with its country. */
  const push = (ids: Uint8Array, to: SegmentVisitor): SegmentVisitor => {
    return (a, b, c, d, segment) => {
      const at = segment * ID_BYTES
      const id = (ids[at] as number) | ((ids[at + 1] as number) << 8) | ((ids[at + 2] as number) << 16)
      to(a, b, c, d, countries[id] as number)
    }
  }
  const four = createSegmentWriter(4)
  const six = createPartition6Writer(1024)
  visitSegments(partitions, 4, push(city['four.ids'], four.push))
  visitSegments(partitions, 6, push(city['six.ids'], six.push))
  return {
    ...valueColumns('four', 'countries', partition4(four.finish())),
    ...valueColumns('six', 'countries', six.finish()),
  }
}
