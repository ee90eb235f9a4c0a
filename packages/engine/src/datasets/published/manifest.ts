import { SallyportError, type SourceStatus } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { CITY_FORMAT } from '../format/city.ts'
import { TABLES_FORMAT } from '../format/tables.ts'
import { isRecord } from '../parse/json-paths.ts'

/** Counts up with every change of what a manifest means; one of another number is refused. */
const BUNDLE_FORMAT = 1

/** A compiled file, or a download that is read as it is; in a bundle its name is its digest. */
export interface BundleFile {
  /** `tables`; `city-ID`, `countries-ID` and `feed-ID` with the id of a source. */
  readonly name: string
  readonly bytes: number
  /** Hexadecimal. */
  readonly sha256: string
}

/** All that a publisher has compiled, as it signs it. */
export interface Manifest {
  readonly format: number
  /** Formats of the compiled files within. */
  readonly tables: number
  readonly cities: number
  /** Version of the program that made it. */
  readonly engine: string
  /** Grows with every publish. */
  readonly version: number
  /** ISO 8601, like `expires`. */
  readonly created: string
  readonly expires: string
  /** City files in order of preference. */
  readonly files: readonly BundleFile[]
  /** All sources of the publisher, with what it knows of each. */
  readonly sources: readonly SourceStatus[]
}

export const MAX_MANIFEST_BYTES = 2 ** 20
const MAX_FILE_BYTES = 2 ** 29
const MAX_BUNDLE_BYTES = 2 ** 30
/** A publisher's clock may be ahead by so much. */
const AHEAD_MS = 600_000

const NAME = /^(tables|(city|countries|feed)-([a-z0-9-]{1,64}))$/
const DIGEST = /^[0-9a-f]{64}$/
const ROWS: ReadonlyMap<string, SourceRow> = new Map(SOURCES.map((row) => [row.id, row]))

/** The row of a source that this version knows. */
export function rowOf(id: string): SourceRow | undefined {
  return ROWS.get(id)
}

/** The kind of a file and the row of the source that it is of. */
export function subjectOf({ name }: BundleFile): { readonly kind: string; readonly row?: SourceRow | undefined } {
  const [, , kind = 'tables', id = ''] = NAME.exec(name) ?? []
  return { kind, row: ROWS.get(id) }
}

/** A manifest of the formats that this version writes. */
export function makeManifest(made: Omit<Manifest, 'format' | 'tables' | 'cities'>): Manifest {
  return { format: BUNDLE_FORMAT, tables: TABLES_FORMAT, cities: CITY_FORMAT, ...made }
}

/** The bytes that are signed: JSON with the keys of every object in order, as RFC 8785 has it. */
export function manifestBytes(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify(manifest, inOrder)}\n`)
}

function inOrder(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Reads a manifest; throws `corrupt_data` that says what is wrong with it. */
export function parseManifest(bytes: Uint8Array): Manifest {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    throw refused('it is not JSON')
  }
  if (!isRecord(value)) throw refused('it is not a manifest')
  if (value['format'] !== BUNDLE_FORMAT) throw refused(`format ${value['format']}, where this version reads 1`)
  if (!isManifest(value)) throw refused('it is not a manifest')
  const strange = value.files.find(({ bytes }) => bytes > MAX_FILE_BYTES)
  if (strange !== undefined) throw refused(`${strange.name} is too large`)
  if (value.files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BUNDLE_BYTES) throw refused('it is too large')
  return value
}

/** Throws `corrupt_data` where this version cannot read what a manifest names, or where it is too old or of the future. */
export function requireUsable({ tables, cities, engine, created, expires }: Manifest, now: number): void {
  if (tables !== TABLES_FORMAT || cities !== CITY_FORMAT)
    throw refused(`it was compiled by version ${engine}, in formats that this version does not read`)
  if (Date.parse(expires) <= now) throw refused(`it has expired: ${expires}`)
  if (Date.parse(created) > now + AHEAD_MS) throw refused(`it is of the future: ${created}`)
}

function isManifest(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & Manifest {
  const { tables, cities, engine, version, created, expires, files, sources } = value
  return (
    [tables, cities, version].every(isCount) &&
    typeof engine === 'string' &&
    [created, expires].every((time) => typeof time === 'string' && Number.isFinite(Date.parse(time))) &&
    Array.isArray(files) &&
    files.every(isFile) &&
    Array.isArray(sources) &&
    sources.every(isStatus)
  )
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A name is of a later version where this one does not know it; its digest is a file name here. */
function isFile(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value['name'] === 'string' &&
    isCount(value['bytes']) &&
    typeof value['sha256'] === 'string' &&
    DIGEST.test(value['sha256'])
  )
}

function isStatus(value: unknown): boolean {
  return (
    isRecord(value) &&
    ['id', 'title', 'licence', 'credit'].every((name) => typeof value[name] === 'string') &&
    ['loaded', 'absent', 'refused'].includes(String(value['state']))
  )
}

/** Which files a process needs: `city`, places too. What it does not know is left out. */
export function neededFiles({ files }: Pick<Manifest, 'files'>, city: boolean): readonly BundleFile[] {
  return files.filter((file) => {
    const { kind, row } = subjectOf(file)
    switch (kind) {
      case 'tables':
        return file.name === kind
      case 'feed':
        return row?.kind === 'front-end' || row?.kind === 'rdap'
      default:
        return city && row?.kind === 'city'
    }
  })
}

export function refused(reason: string): SallyportError {
  return new SallyportError('corrupt_data', reason)
}
