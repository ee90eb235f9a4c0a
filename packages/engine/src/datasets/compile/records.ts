import { compareHits, type NetworkClass } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { IN_DATACENTER_RANGES, IN_VPN_RANGES, listOfHit, type RangeSource } from '../format/range-source.ts'
import { overlay, type Segments } from '../ranges/segments.ts'

/** Classes of the public range lists that count for the two flags of a record, whichever class wins. */
const VPN_LISTS: readonly NetworkClass[] = ['vpn']
const DATACENTER_LISTS: readonly NetworkClass[] = ['datacenter', 'hosting']

/** Lists in order of precedence; equal ones stay as they came. */
export function byPrecedence<T extends RangeSource>(sources: readonly T[]): readonly T[] {
  return sources.toSorted(compareHits)
}

/** True when both a VPN and a datacenter range list are among the sources; crawler ranges alone are neither. */
export function haveBothLists(sources: readonly RangeSource[]): boolean {
  const flags = sources.reduce((all, source) => all | flagsOf(source), 0)
  return flags === (IN_VPN_RANGES | IN_DATACENTER_RANGES)
}

/** True when a published list of one of these kinds and classes is among the sources. */
export function hasList(
  sources: readonly RangeSource[],
  kinds: readonly SourceRow['kind'][],
  classes: readonly NetworkClass[],
): boolean {
  return sources.some(
    ({ kind, networkClass, rule }) => !isOurs(rule) && kinds.includes(kind) && classes.includes(networkClass),
  )
}

/** Whether a hit is a rule of ours over lists, and no list. */
export function isOurs(rule: RangeSource['rule']): boolean {
  return rule === 'density' || rule === 'neighbours'
}

/** The distinct records of all segments, as columns; record 0 knows nothing. */
export interface RecordRegister {
  /** Makes one layer of record numbers from a family's systems and what lists say, sets of hits by number. */
  combine(systems: Segments, hits: Segments): Segments
  finish(): RecordColumns
}

export interface RecordColumns {
  /** Position of the system, from 1; 0 for none. */
  readonly systems: Uint32Array
  /** Number of the set of hits. */
  readonly evidence: Uint32Array
  readonly flags: Uint8Array
}

/**
 * `sets`: what lists say, each a set of hits as `hitCode` of the lists by position; set 0 is empty.
 */
export function createRecordRegister(
  sources: readonly RangeSource[],
  sets: readonly (readonly number[])[],
): RecordRegister {
  const systems = [0]
  const evidence = [0]
  const numbers = new Map([[0, 0]])
  const add = (system: number, set: number): number => {
    evidence.push(set)
    return systems.push(system) - 1
  }
  const recordOf = (system: number, set: number): number => {
    const key = system * 2 ** 24 + set
    const known = numbers.get(key)
    if (known !== undefined) return known
    const record = add(system, set)
    numbers.set(key, record)
    return record
  }
  return {
    combine: (ofSystems, ofHits) => overlay(ofSystems, ofHits, recordOf),
    finish() {
      const flags = sets.map((hits) =>
        hits.reduce((all, hit) => all | flagsOf(sources[listOfHit(hit)] as RangeSource), 0),
      )
      return {
        systems: Uint32Array.from(systems),
        evidence: Uint32Array.from(evidence),
        flags: Uint8Array.from(evidence, (set) => flags[set] as number),
      }
    },
  }
}

/** The flags of what a source lists. The files that operators publish of their own crawlers are no public lists of a class. */
function flagsOf({ networkClass, kind, rule }: RangeSource): number {
  if (isOurs(rule) || kind !== 'ranges') return 0
  return (
    (VPN_LISTS.includes(networkClass) ? IN_VPN_RANGES : 0) |
    (DATACENTER_LISTS.includes(networkClass) ? IN_DATACENTER_RANGES : 0)
  )
}
