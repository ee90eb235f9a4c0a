import { formatPrefix, type Prefix } from '../address/prefix.ts'
import type { NetworkTable, SystemTable } from '../ports/index.ts'
import type { DirectoryOrder } from '../vocabulary.ts'
import { parseAsn } from './number.ts'

/** Summarises an autonomous system (specification: AsnDirectorySummary). */
export type DirectorySummary = ReturnType<typeof summariseSystem>

/** Describes an autonomous system (specification: AsnDirectoryEntry). The two counts are 0 unless `rangesLoaded` is true. */
export interface DirectoryEntry extends DirectorySummary {
  readonly samplePrefixes: ReturnType<typeof takeSamples>
  readonly vpnRangePrefixes: number
  readonly datacenterRangePrefixes: number
  readonly rangesLoaded: boolean
}

export type Directory = ReturnType<typeof createDirectory>

const MAX_SAMPLES = 12

/** Searches the autonomous systems of one loaded snapshot. */
export function createDirectory(systems: SystemTable, networks: NetworkTable, rangesLoaded: boolean) {
  const summary = (index: number) => summariseSystem(systems, index)

  return {
    /** Counts the autonomous systems in the database. */
    total: systems.size,
    /** Returns the `count` largest, ordered; equal sizes by number. */
    top: (by: DirectoryOrder, count: number): readonly DirectorySummary[] => systems.largest(by, count).map(summary),
    /** Finds a number (`13335`, `AS13335`: an exact match is first) or a part of the name, largest first. */
    search(query: string, limit: number): readonly DirectorySummary[] {
      const text = foldName(query.trim())
      // Accents alone fold to nothing, which is a part of every name.
      if (text === '') return []
      const asn = parseAsn(text)
      const exact = asn === undefined ? -1 : systems.indexOf(asn)
      const named = systems.named(text, limit)
      const found = exact === -1 ? named : [exact, ...named.filter((index) => index !== exact)]
      return found.slice(0, limit).map(summary)
    },
    entry(asn: number): DirectoryEntry | undefined {
      const index = systems.indexOf(asn)
      if (index === -1) return undefined
      const prefixes = systems.prefixes(index)
      // One list without the other gives half of an answer.
      const starts = rangesLoaded ? prefixes.filter(isIpv4) : []
      const first = starts.map((prefix) => networks.find(prefix.address))
      return {
        ...summary(index),
        samplePrefixes: takeSamples(prefixes),
        vpnRangePrefixes: first.filter((record) => record?.inVpnRanges).length,
        datacenterRangePrefixes: first.filter((record) => record?.inDatacenterRanges).length,
        rangesLoaded,
      }
    },
  }
}

function summariseSystem(systems: SystemTable, index: number) {
  const system = systems.system(index)
  const ipv4Prefixes = systems.ipv4Prefixes(index)
  const ipv6Prefixes = systems.ipv6Prefixes(index)
  return {
    asn: system.asn,
    label: `AS${system.asn}`,
    org: system.name,
    networkType: system.type,
    ipv4Prefixes,
    ipv6Prefixes,
    prefixes: ipv4Prefixes + ipv6Prefixes,
    /** Counts IPv4 addresses over all prefixes; IPv6 is not counted. */
    addresses: systems.ipv4Addresses(index),
  }
}

/** Returns the largest prefixes of IPv4, then of IPv6; equal sizes stay in address order. `addresses` is set for IPv4 only. */
function takeSamples(prefixes: readonly Prefix[]) {
  return prefixes
    .toSorted((x, y) => x.address.family - y.address.family || x.length - y.length)
    .slice(0, MAX_SAMPLES)
    .map((prefix) => ({
      prefix: formatPrefix(prefix),
      version: prefix.address.family,
      ...(isIpv4(prefix) && { addresses: 2 ** (32 - prefix.length) }),
    }))
}

function isIpv4(prefix: Prefix): boolean {
  return prefix.address.family === 4
}

/** Ignores case and accents, so that `telefonica` finds `Telefónica`. */
export function foldName(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase()
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}
