import type { Snapshot } from '@sallyport/core'
import { type Column, type ColumnType, viewColumn } from '../columns/column-view.ts'
import { type Columns, type Description, TABLES_FORM } from '../format/tables.ts'

/** Counts up with every change of the layout, or of what a tables file means. */
export const BUNDLE_FORMAT = 4
/** The largest bundle, in bytes: what a Worker of Cloudflare may have on a free plan. */
export const MAX_BUNDLE_BYTES = 3_000_000

/** How a column is written: as values, or as the differences of neighbours where it mostly ascends. */
interface Row {
  readonly type: ColumnType
  readonly isSteps: boolean
}

/** Names, places and the directory of systems stay out, which no decision reads: Workers take 3 MB. */
const LEFT_OUT = /^(places|systems\.(name|ipv|by|folded))/
const VALUES =
  /\.(records|evidence|flags|filter|lists|expires|sets|numbers|types|classes|bases|hostLike|brands|countries)$/

/** The columns in the order in which they are written. */
export const BUNDLED_COLUMNS = Object.entries(TABLES_FORM.columns)
  .filter(([name]) => !LEFT_OUT.test(name))
  .map(([name, type]) => [name as keyof Columns, { type, isSteps: !VALUES.test(name) }] as const)

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
export function splitPlanes(column: Column, { isSteps }: Row): Uint8Array {
  const { length, BYTES_PER_ELEMENT: width } = column
  const planes = new Uint8Array(length * width)
  let before = 0
  for (let at = 0; at < length; at++) {
    const value = column[at] as number
    const written = isSteps ? value - before : value
    before = value
    for (let plane = 0; plane < width; plane++) planes[plane * length + at] = written >>> (8 * plane)
  }
  return planes
}

/** Restores a column from the bytes that `splitPlanes` made. */
export function joinPlanes(planes: Uint8Array, { type, isSteps }: Row, length: number): Column {
  const width = length === 0 ? 0 : planes.length / length
  const column = viewColumn(type, new ArrayBuffer(planes.length), 0, length)
  let before = 0
  for (let at = 0; at < length; at++) {
    let value = 0
    for (let plane = 0; plane < width; plane++) value |= (planes[plane * length + at] as number) << (8 * plane)
    // The array cuts it to its width.
    if (isSteps) value += before
    column[at] = value
    before = column[at] as number
  }
  return column
}
