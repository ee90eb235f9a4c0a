import table from './regions.json' with { type: 'json' }

/** Facts of one kind, by country: `BY=Bavaria; HE=Hesse` under `DE` says that DE-BY is Bavaria. */
export interface RegionRows {
  readonly source: string
  /** The month in which the rows were true, YYYY-MM. */
  readonly date: string
  readonly note: string
  readonly codes: Readonly<Record<string, string>>
}

/** Regions that no data can tell, as their borders or the state that they belong to are disputed. `XK-*`: all of a country. */
export interface DisputedRegions extends Omit<RegionRows, 'codes'> {
  readonly regions: readonly string[]
}

/** Regions under sanctions, by one authority. A rule names them as `sanctions:ID`. */
export interface SanctionedRegions extends DisputedRegions {
  readonly id: string
  readonly url: string
  /** The month of the last act that is in the row, YYYY-MM. */
  readonly date: string
}

export const REGIONS: {
  /** Names by code, under the country or the region that holds them. */
  readonly codes: RegionRows
  /** Codes that ISO withdrew are left of the codes that took their place. */
  readonly retired: RegionRows
  /** Maps a whole code to the regions within it. */
  readonly parents: RegionRows
  /** Maps names in city files to codes. */
  readonly names: RegionRows
  /** Regions that are countries of ISO 3166-1 too. */
  readonly twins: RegionRows
  /** Cities, with their regions, in which city files put lines of other regions too. */
  readonly gateways: RegionRows
  readonly disputed: readonly DisputedRegions[]
  readonly sanctions: readonly SanctionedRegions[]
  /** Systems whose lines go through satellites. */
  readonly satellites: Omit<RegionRows, 'codes'> & { readonly asns: readonly number[] }
} = table
