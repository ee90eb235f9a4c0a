import { SallyportError, type Snapshot } from '@sallyport/core'
import { bytesPerElement, type Column } from '../columns/column-view.ts'
import { dayNumber } from '../format/days.ts'
import { type Columns, TABLES_FORM } from '../format/tables.ts'
import { openTables } from '../tables/open-tables.ts'
import { BUNDLE_FORMAT, BUNDLED_COLUMNS, type BundleHead, joinPlanes, WORD_BYTES } from './bundle-form.ts'

/**
 * Reads the snapshot of a bundle, without files and without Node: networks, listed addresses, countries and crawler ranges. A bundle has no
 * places, no names of systems and no directory. Rejects with `corrupt_data`.
 */
export async function readBundle(bundle: ArrayBuffer | Uint8Array): Promise<Snapshot> {
  const file = await unpack(bundle)
  const length = file.length < WORD_BYTES ? 0 : new DataView(file.buffer).getUint32(0, true)
  const head = readHead(new TextDecoder().decode(file.subarray(WORD_BYTES, WORD_BYTES + length)))
  const sizes = BUNDLED_COLUMNS.map(([name, row]) => ({ name, row, count: head.counts[name] ?? 0 }))
  const start = WORD_BYTES + length
  const size = sizes.reduce((sum, { row, count }) => sum + count * bytesPerElement(row.type), start)
  if (size !== file.length || sizes.some(({ count }) => !(Number.isInteger(count) && count >= 0)))
    throw new SallyportError('corrupt_data', 'The length of the bundle does not match its header.')
  const columns: Record<string, Column> = {}
  let at = start
  for (const { name, row, count } of sizes) {
    const end = at + count * bytesPerElement(row.type)
    columns[name] = joinPlanes(file.subarray(at, end), row, count)
    at = end
  }
  const tables = { columns: addMissing(columns), description: head.description }
  const { systems: _systems, places: _places, sources: _, ...opened } = openTables(tables, () => dayNumber(Date.now()))
  return Object.freeze({ ...opened, ...head.status })
}

/** Adds the columns that a bundle leaves out, as empty ones: only the directory reads them, and a bundle has none. */
function addMissing(columns: Readonly<Record<string, Column>>): Columns {
  const all = Object.keys(TABLES_FORM.columns).map((name) => [name, columns[name] ?? new Uint8Array(0)])
  return Object.fromEntries(all) as Columns
}

async function unpack(bundle: ArrayBuffer | Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const packed = new Blob([bundle as ArrayBuffer]).stream().pipeThrough(new DecompressionStream('gzip'))
    return new Uint8Array(await new Response(packed).arrayBuffer())
  } catch (error) {
    throw new SallyportError('corrupt_data', `The bundle cannot be unpacked: ${error}`)
  }
}

function readHead(text: string): BundleHead {
  try {
    const head: BundleHead = JSON.parse(text)
    if (head.bundle === BUNDLE_FORMAT && typeof head.counts === 'object' && head.counts !== null) return head
  } catch {
    // A text that is no JSON is no bundle either.
  }
  throw new SallyportError('corrupt_data', 'The file is not a bundle of this version. Run sallyport data bundle.')
}
