import type { CountryTable, NetworkTable, SourceStatus, SystemTable } from '@sallyport/core'
import { findSegment4, findSegment6 } from '@sallyport/core'
import { openNetworks } from './networks.ts'
import { partitionsOf } from './partitions.ts'
import { readTables } from './read.ts'
import { openSystems } from './systems.ts'

/** Compiled tables in memory. A member is absent when none of the sources that it is made from could be read. */
export interface LoadedTables {
  readonly networks?: NetworkTable
  readonly systems?: SystemTable
  readonly countries?: CountryTable
  readonly sources: readonly SourceStatus[]
  /** True when both a VPN and a datacenter range list are in `networks`. */
  readonly rangesLoaded: boolean
}

/**
 * Loads a compiled file: one read into shared memory, one checksum, and views on it; records become objects when they
 * are first asked for. Throws `corrupt_data` naming the file for one byte too few, too many or changed, and
 * `missing_data` when it is not there.
 */
export function loadTables(path: string): LoadedTables {
  const tables = readTables(path)
  const { loaded, sources, rangesLoaded } = tables.description
  const systems = openSystems(tables)
  return {
    ...(loaded.networks ? { networks: openNetworks(tables, systems) } : {}),
    ...(loaded.systems ? { systems } : {}),
    ...(loaded.countries ? { countries: openCountries(tables) } : {}),
    sources,
    rangesLoaded,
  }
}

function openCountries({ columns, description }: ReturnType<typeof readTables>): CountryTable {
  const { four, six } = partitionsOf(columns, 'countries')
  const codes4 = columns['countries4.codes']
  const codes6 = columns['countries6.codes']
  const codes = [undefined, ...description.countries]
  return {
    find({ family, a, b, c, d }) {
      const code = family === 4 ? codes4[findSegment4(four, d)] : codes6[findSegment6(six, a, b, c, d)]
      return codes[code as number]
    },
  }
}
