import type { Snapshot } from '@sallyport/core'
import { type Column, type ColumnType, viewColumn } from '../columns/column-view.ts'
import type { Columns, Description } from '../format/tables.ts'

/** Counts up with every change of the layout, or of what a tables file means. */
export const BUNDLE_FORMAT = 4
/** The largest bundle, in bytes: what a Worker of Cloudflare may have on a free plan. */
export const MAX_BUNDLE_BYTES = 3_000_000

/** How a column is written: `steps` for one that mostly ascends, as the differences of neighbours. */
interface Row {
  readonly type: ColumnType
  readonly as: 'steps' | 'values'
}

const starts32: Row = { type: 'u32', as: 'steps' }
const values32: Row = { type: 'u32', as: 'values' }

/** The columns that decisions read. Names, places and the directory of systems stay out: Workers take 3 MB. */
const BUNDLED = {
  'networks4.lows': { type: 'u16', as: 'steps' },
  'networks4.direct': starts32,
  'networks4.records': values32,
  'networks6.uppers': starts32,
  'networks6.groups': starts32,
  'networks6.lowers': starts32,
  'networks6.direct': starts32,
  'networks6.split': starts32,
  'networks6.cells': starts32,
  'networks6.pieces': starts32,
  'networks6.fineHigh': starts32,
  'networks6.fineLow': starts32,
  'networks6.records': values32,
  'records.systems': starts32,
  'records.evidence': values32,
  'records.flags': { type: 'u8', as: 'values' },
  'addresses.filter': values32,
  'addresses.four': starts32,
  'addresses.six': starts32,
  'addresses.lists': { type: 'u8', as: 'values' },
  'addresses.expires': { type: 'u16', as: 'values' },
  'crawlers4.starts': starts32,
  'crawlers4.sets': values32,
  'crawlers6.starts': starts32,
  'crawlers6.sets': values32,
  'countries4.lows': { type: 'u16', as: 'steps' },
  'countries4.direct': starts32,
  'countries4.numbers': { type: 'u16', as: 'values' },
  'countries6.uppers': starts32,
  'countries6.groups': starts32,
  'countries6.lowers': starts32,
  'countries6.direct': starts32,
  'countries6.split': starts32,
  'countries6.cells': starts32,
  'countries6.pieces': starts32,
  'countries6.fineHigh': starts32,
  'countries6.fineLow': starts32,
  'countries6.numbers': { type: 'u16', as: 'values' },
  'systems.asns': starts32,
  'systems.types': { type: 'u8', as: 'values' },
  'systems.classes': { type: 'u8', as: 'values' },
  'systems.bases': { type: 'u8', as: 'values' },
  'systems.hostLike': { type: 'u8', as: 'values' },
  'systems.brands': { type: 'u16', as: 'values' },
  'systems.lists': { type: 'u8', as: 'values' },
  'systems.countries': { type: 'u8', as: 'values' },
} as const satisfies Partial<Readonly<Record<keyof Columns, Row>>>

/** The columns in the order in which they are written. */
export const BUNDLED_COLUMNS = Object.entries(BUNDLED) as readonly [name: keyof typeof BUNDLED, row: Row][]

/** The number before the head takes 4 bytes; it is the length of the head. */
export const WORD_BYTES = 4

/** The head of a bundle, as JSON; the columns follow it in the order of `BUNDLED_COLUMNS`. */
export interface BundleHead {
  readonly bundle: number
  readonly description: Description
  /** Counts the elements of each column. */
  readonly counts: Readonly<Record<string, number>>
  /** The ages of the sources when the bundle was made. */
  readonly status: Pick<Snapshot, 'sources' | 'crawlerStatus' | 'restsOn'>
}

/** Splits a column into its lowest bytes, then the next ones, and so on: similar bytes lie together, which packs well. */
export function splitPlanes(column: Column, { as }: Row): Uint8Array {
  const { length, BYTES_PER_ELEMENT: width } = column
  const planes = new Uint8Array(length * width)
  let before = 0
  for (let at = 0; at < length; at++) {
    const value = column[at] as number
    const written = as === 'steps' ? value - before : value
    before = value
    for (let plane = 0; plane < width; plane++) planes[plane * length + at] = written >>> (8 * plane)
  }
  return planes
}

/** Restores a column from the bytes that `splitPlanes` made. */
export function joinPlanes(planes: Uint8Array, { type, as }: Row, length: number): Column {
  const width = length === 0 ? 0 : planes.length / length
  const column = viewColumn(type, new ArrayBuffer(planes.length), 0, length)
  let before = 0
  for (let at = 0; at < length; at++) {
    let value = 0
    for (let plane = 0; plane < width; plane++) value |= (planes[plane * length + at] as number) << (8 * plane)
    // The array cuts it to its width.
    if (as === 'steps') value += before
    column[at] = value
    before = column[at] as number
  }
  return column
}
