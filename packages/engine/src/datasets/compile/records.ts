import type { NetworkClass } from '@sallyport/core'
import { findHitList, IN_DATACENTER_RANGES, IN_VPN_RANGES, type RangeSource } from '../format/range-source.ts'
import { type Layers, overlay } from '../ranges/segments.ts'
import type { HitLayers } from './hit-sets.ts'

/** Public range lists of these classes set the flags of a record, whichever class wins. */
const FLAGS: Partial<Readonly<Record<NetworkClass, number>>> = {
  vpn: IN_VPN_RANGES,
  datacenter: IN_DATACENTER_RANGES,
  hosting: IN_DATACENTER_RANGES,
}

/** True when both a VPN and a datacenter range list are among the sources; crawler ranges alone are neither. */
export function haveBothLists(sources: readonly RangeSource[]): boolean {
  return joinFlags(sources) === (IN_VPN_RANGES | IN_DATACENTER_RANGES)
}

/** True when a published list of residential proxies is among the sources. */
export function haveProxies(sources: readonly RangeSource[]): boolean {
  return sources.some(
    ({ kind, networkClass, rule }) =>
      networkClass === 'residential_proxy' && (kind === 'ranges' || kind === 'addresses') && !isOurs(rule),
  )
}

/** Reports whether a derived rule made the hit, so that no list holds it. */
export function isOurs(rule: RangeSource['rule']): boolean {
  return rule === 'density' || rule === 'neighbours'
}

/**
 * Numbers the distinct records of a system and what lists say: layers of both families, and the records as columns. Positions of systems
 * count from 1. Record 0 knows nothing.
 */
export function layRecords(systems: Layers, { layers, sets }: HitLayers, lists: readonly RangeSource[]) {
  const columns = { systems: [0], evidence: [0] }
  const numbers = new Map([[0, 0]])
  const findRecord = (system: number, set: number): number => {
    const key = system * 2 ** 24 + set
    const known = numbers.get(key)
    if (known !== undefined) return known
    columns.evidence.push(set)
    const record = columns.systems.push(system) - 1
    numbers.set(key, record)
    return record
  }
  const laid = { 4: overlay(systems[4], layers[4], findRecord), 6: overlay(systems[6], layers[6], findRecord) }
  const flags = sets.map((hits) => joinFlags(hits.map((hit) => lists[findHitList(hit)] as RangeSource)))
  return { ...laid, columns: { ...columns, flags: columns.evidence.map((set) => flags[set] as number) } }
}

function joinFlags(sources: readonly RangeSource[]): number {
  return sources.reduce((all, source) => all | packFlags(source), 0)
}

/** Returns the flags of a source. Files that operators publish of their own crawlers are no public lists of a class. */
function packFlags({ networkClass, kind, rule }: RangeSource): number {
  return isOurs(rule) || kind !== 'ranges' ? 0 : (FLAGS[networkClass] ?? 0)
}
