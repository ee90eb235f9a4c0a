import type { AsType } from '@sallyport/core/tables'
import type { Ranges } from '../parse/ranges.ts'
import type { SystemList } from '../parse/system-list.ts'
import type { AddressList } from './addresses.ts'
import type { RangeSource } from './records.ts'

/** One value for each family, where there is one. */
export type PerFamily<T> = { 4?: T; 6?: T }

/** A range list that was read, of both families. */
export interface ReadList extends RangeSource, AddressList {
  readonly ranges: PerFamily<Ranges>
}

/** A list of autonomous systems that was read; what it says of each, by number. */
export interface ReadSystemList {
  readonly source: string
  /** Absent where the list asserts no type. */
  readonly asType?: AsType
  readonly systemList: SystemList
}
