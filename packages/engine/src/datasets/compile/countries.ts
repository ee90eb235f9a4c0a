import { createPartition6Writer } from '@sallyport/core'
import { type CityColumns, ID_BYTES } from '../format/city.ts'
import type { CountriesColumns } from '../format/countries.ts'
import {
  partition4,
  partitionOf4,
  partitionOf6,
  prefixed,
  type SegmentVisitor,
  visitSegments4,
  visitSegments6,
} from '../format/partitions.ts'
import { createSegmentWriter } from '../ranges/segments.ts'

/** Picks the countries from a city file's columns. Neighbouring segments of one country become one segment. */
export function pickCountries(city: CityColumns): CountriesColumns {
  const countries = city['records.countries']
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
  visitSegments4(partitionOf4(city, 'four'), push(city['four.ids'], four.push))
  visitSegments6(partitionOf6(city, 'six'), push(city['six.ids'], six.push))
  const ipv4 = partition4(four.finish())
  const ipv6 = six.finish()
  return {
    ...prefixed('four', ipv4.partition),
    'four.countries': Uint8Array.from(ipv4.values),
    ...prefixed('six', ipv6.partition),
    'six.countries': Uint8Array.from(ipv6.values),
  }
}
