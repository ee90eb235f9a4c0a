import { classRank, NETWORK_CLASSES, type NetworkClass } from '@sallyport/core'
import { overlay, type Segments } from './segments.ts'

/** Where a hit in a list comes from; all hits of one list are alike. */
export interface RangeSource {
  readonly networkClass: NetworkClass
  readonly single: boolean
  readonly provider: string
  readonly source: string
}

/** The lists that count for the two flags of a record, whatever class wins. */
const VPN_LISTS: readonly NetworkClass[] = ['vpn']
const DATACENTER_LISTS: readonly NetworkClass[] = ['datacenter', 'hosting']
export const IN_VPN_RANGES = 1
export const IN_DATACENTER_RANGES = 2

/** Lists in order of precedence, those of single addresses first, then by class; equal ones stay as they came. */
export function byPrecedence<T extends RangeSource>(sources: readonly T[]): readonly T[] {
  const rank = ({ single, networkClass }: RangeSource) =>
    (single ? 0 : NETWORK_CLASSES.length) + classRank(networkClass)
  return sources.toSorted((x, y) => rank(x) - rank(y))
}

/** True when both a VPN and a datacenter list are among the sources. */
export function haveBothLists(sources: readonly RangeSource[]): boolean {
  const some = (classes: readonly NetworkClass[]) => sources.some(({ networkClass }) => classes.includes(networkClass))
  return some(VPN_LISTS) && some(DATACENTER_LISTS)
}

/** The distinct records of all segments, as columns; record 0 knows nothing. */
export interface RecordRegister {
  /** Makes one layer of record numbers from a family's systems and its lists, which are in order of precedence. */
  combine(systems: Segments, lists: readonly ListLayer[]): Segments
  finish(): RecordColumns
}

export interface ListLayer {
  /** Position of the list among all sources, in order of precedence. */
  readonly position: number
  readonly segments: Segments
}

export interface RecordColumns {
  /** Position of the system, from 1; 0 for none. */
  readonly systems: Uint32Array
  /** Position of the list that won, from 1; 0 for none. */
  readonly ranges: Uint8Array
  readonly flags: Uint8Array
}

export function createRecordRegister(sources: readonly RangeSource[]): RecordRegister {
  const numbers = new Map<number, number>([[0, 0]])
  const columns = { systems: [0], ranges: [0], flags: [0] }
  const flagsOf = sources.map(
    ({ networkClass }) =>
      (VPN_LISTS.includes(networkClass) ? IN_VPN_RANGES : 0) |
      (DATACENTER_LISTS.includes(networkClass) ? IN_DATACENTER_RANGES : 0),
  )
  return {
    combine: (systems, lists) =>
      overlay([systems, ...lists.map(({ segments }) => segments)], (values) => {
        const system = values[0] as number
        let range = 0
        let flags = 0
        for (let layer = 1; layer < values.length; layer++) {
          if (values[layer] === 0) continue
          const { position } = lists[layer - 1] as ListLayer
          if (range === 0) range = position + 1
          flags |= flagsOf[position] as number
        }
        return recordOf(system, range, flags)
      }),
    finish: () => ({
      systems: Uint32Array.from(columns.systems),
      ranges: Uint8Array.from(columns.ranges),
      flags: Uint8Array.from(columns.flags),
    }),
  }

  function recordOf(system: number, range: number, flags: number): number {
    const key = (system * 256 + range) * 4 + flags
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, columns.systems.length)
    columns.systems.push(system)
    columns.ranges.push(range)
    columns.flags.push(flags)
    return columns.systems.length - 1
  }
}
