import { compareHits, type NetworkClass } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { IN_DATACENTER_RANGES, IN_VPN_RANGES, listOfHit, type RangeSource } from '../format/range-source.ts'
import { overlay, type Segments } from '../ranges/segments.ts'

/** Classes of the public range lists that count for the two flags of a record, whichever class wins. */
const VPN_LISTS: readonly NetworkClass[] = ['vpn']
const DATACENTER_LISTS: readonly NetworkClass[] = ['datacenter', 'hosting']

/** Sorts lists by precedence; equal ones keep their order. */
export function byPrecedence<T extends RangeSource>(sources: readonly T[]): readonly T[] {
  return sources.toSorted(compareHits)
}

/** True when both a VPN and a datacenter range list are among the sources; crawler ranges alone are neither. */
export function haveBothLists(sources: readonly RangeSource[]): boolean {
  const flags = sources.reduce((all, source) => all | packFlags(source), 0)
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

/** Reports whether a derived rule made the hit, so that no list holds it. */
export function isOurs(rule: RangeSource['rule']): boolean {
  return rule === 'density' || rule === 'neighbours'
}

/** Collects the distinct records of all segments as columns; record 0 knows nothing. */
export interface RecordRegister {
  /** Makes one layer of record numbers from a family's systems and the lists' sets of hits. */
  combine(systems: Segments, hits: Segments): Segments
  finish(): RecordColumns
}

export interface RecordColumns {
  /** Positions of systems count from 1; 0 means no system. */
  readonly systems: Uint32Array
  /** Numbers of sets of hits. */
  readonly evidence: Uint32Array
  readonly flags: Uint8Array
}

/** `sets` holds what lists say: each set has hits as `hitCode` of the lists by position; set 0 is empty. */
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
  const findRecord = (system: number, set: number): number => {
    const key = system * 2 ** 24 + set
    const known = numbers.get(key)
    if (known !== undefined) return known
    const record = add(system, set)
    numbers.set(key, record)
    return record
  }
  return {
    combine: (ofSystems, ofHits) => overlay(ofSystems, ofHits, findRecord),
    finish() {
      const flags = sets.map((hits) =>
        hits.reduce((all, hit) => all | packFlags(sources[listOfHit(hit)] as RangeSource), 0),
      )
      return {
        systems: Uint32Array.from(systems),
        evidence: Uint32Array.from(evidence),
        flags: Uint8Array.from(evidence, (set) => flags[set] as number),
      }
    },
  }
}

/** Returns the flags of a source. Files that operators publish of their own crawlers are no public lists of a class. */
function packFlags({ networkClass, kind, rule }: RangeSource): number {
  if (isOurs(rule) || kind !== 'ranges') return 0
  return (
    (VPN_LISTS.includes(networkClass) ? IN_VPN_RANGES : 0) |
    (DATACENTER_LISTS.includes(networkClass) ? IN_DATACENTER_RANGES : 0)
  )
}
