import { compareHits, type NetworkClass, type Ranked } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { overlay, type Segments } from './segments.ts'

/** Where a hit in a list comes from; hits of one list differ only in how narrow its prefix is. */
export interface RangeSource extends Ranked {
  readonly source: string
  /** Prefixes of one class, single addresses of one, or what an operator publishes for its crawlers. */
  readonly kind: SourceRow['kind']
  /** Share of the list's entries that are thought to be right, 0 to 1. */
  readonly trust: number
  /** The day the list was true, YYYY-MM-DD. */
  readonly date: string
}

/** What a list's layer holds at a place: nothing, a wide prefix or a narrow one. */
export const WIDE = 1
export const NARROW = 2

/** The lists that count for the two flags of a record, whatever class wins. */
const VPN_LISTS: readonly NetworkClass[] = ['vpn']
const DATACENTER_LISTS: readonly NetworkClass[] = ['datacenter', 'hosting']
export const IN_VPN_RANGES = 1
export const IN_DATACENTER_RANGES = 2

/** Lists in order of precedence; equal ones stay as they came. */
export function byPrecedence<T extends RangeSource>(sources: readonly T[]): readonly T[] {
  return sources.toSorted(compareHits)
}

/** True when both a VPN and a datacenter range list are among the sources; crawler ranges alone are neither. */
export function haveBothLists(sources: readonly RangeSource[]): boolean {
  return hasList(sources, ['ranges'], VPN_LISTS) && hasList(sources, ['ranges'], DATACENTER_LISTS)
}

/** True when a published list of one of these kinds and classes is among the sources. */
export function hasList(
  sources: readonly RangeSource[],
  kinds: readonly SourceRow['kind'][],
  classes: readonly NetworkClass[],
): boolean {
  return sources.some(
    ({ kind, networkClass, rule }) => rule === 'list' && kinds.includes(kind) && classes.includes(networkClass),
  )
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
  /** Values are `WIDE` and `NARROW`; 0 outside the list. */
  readonly segments: Segments
}

export interface RecordColumns {
  /** Position of the system, from 1; 0 for none. */
  readonly systems: Uint32Array
  /** Number of the set of hits, into `evidence`. */
  readonly evidence: Uint32Array
  readonly flags: Uint8Array
  /** Distinct sets of hits, in order of precedence, each hit as `hitCode`; set 0 is empty. */
  readonly sets: readonly (readonly number[])[]
}

/** A hit of the list at `position` as one number; `width` is `WIDE` or `NARROW`. */
export function hitCode(position: number, width: number): number {
  return position * 2 + width - 1
}

export function createRecordRegister(sources: readonly RangeSource[]): RecordRegister {
  const numbers = new Map<number, number>([[0, 0]])
  const columns = { systems: [0], evidence: [0], flags: [0] }
  // Sets grow hit by hit: a set and a further hit lead to another set, so none is ever written out to be compared.
  const sets: (readonly number[])[] = [[]]
  const longer = new Map<number, number>()
  const codes = sources.length * 2
  const flagsOf = sources.map(
    ({ networkClass, rule }) =>
      (rule === 'list' && VPN_LISTS.includes(networkClass) ? IN_VPN_RANGES : 0) |
      (rule === 'list' && DATACENTER_LISTS.includes(networkClass) ? IN_DATACENTER_RANGES : 0),
  )
  return {
    combine: (systems, lists) =>
      overlay([systems, ...lists.map(({ segments }) => segments)], (values) => {
        const system = values[0] as number
        let evidence = 0
        let flags = 0
        for (let layer = 1; layer < values.length; layer++) {
          const width = values[layer] as number
          if (width === 0) continue
          const { position } = lists[layer - 1] as ListLayer
          evidence = withHit(evidence, hitCode(position, width))
          flags |= flagsOf[position] as number
        }
        return recordOf(system, evidence, flags)
      }),
    finish: () => ({
      systems: Uint32Array.from(columns.systems),
      evidence: Uint32Array.from(columns.evidence),
      flags: Uint8Array.from(columns.flags),
      sets,
    }),
  }

  function withHit(set: number, hit: number): number {
    const key = set * codes + hit
    const known = longer.get(key)
    if (known !== undefined) return known
    sets.push([...(sets[set] as readonly number[]), hit])
    longer.set(key, sets.length - 1)
    return sets.length - 1
  }

  /** The flags follow from the evidence, so the two others are the whole key. */
  function recordOf(system: number, evidence: number, flags: number): number {
    const key = system * 2 ** 24 + evidence
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, columns.systems.length)
    columns.systems.push(system)
    columns.evidence.push(evidence)
    columns.flags.push(flags)
    return columns.systems.length - 1
  }
}
