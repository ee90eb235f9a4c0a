import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { createBrotliDecompress } from 'node:zlib'
import { replaceFile } from '#files'
import type { SourceFile } from './source-file.ts'

/** A source that came with this version. */
export interface ShippedSource {
  readonly id: string
  /** When it was made, milliseconds since the epoch. */
  readonly made: number
  /** `size` counts the bytes of the contents; `sha256` is their hash. */
  readonly size: number
  readonly sha256: string
}

/** Name of the file that says what was shipped; each source lies beside it, packed, and so do the tables compiled of them. */
export const SHIPPED_INDEX = 'index.json'
/** A packed file has a name that ends with this. */
export const PACKED = '.br'

/** Finds the folder of an installed package. */
export function packageFolder(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

/** Returns the folder of the data that came with this version; a build of the repository makes it. */
export function shippedFolder(): string {
  return join(packageFolder('@sallyport/data') ?? '', 'snapshot')
}

/** Lists the sources in such a folder by id: what an installation has until its first download. */
export function shippedSources(folder: string): ReadonlyMap<string, SourceFile> {
  const index = join(folder, SHIPPED_INDEX)
  if (!existsSync(index)) return new Map()
  const sources: readonly ShippedSource[] = JSON.parse(readFileSync(index, 'utf8'))
  return new Map(
    sources.map(({ id, size, made, sha256 }) => {
      return [id, { path: join(folder, `${id}${PACKED}`), size, modified: made, made, origin: sha256, packed: true }]
    }),
  )
}

/** Unpacks tables from such a folder to their path in a dataDir. Returns false when the folder has none of that name, or broken ones. */
export async function unpackTables(path: string, folder: string): Promise<boolean> {
  const packed = join(folder, `${basename(path)}${PACKED}`)
  if (!existsSync(packed)) return false
  try {
    // The reader of the stream reports a fault.
    await replaceFile(
      path,
      pipeline(createReadStream(packed), createBrotliDecompress(), () => undefined),
    )
    return true
  } catch {
    // The caller compiles the tables instead, which also fails when the fault is the disk's.
    return false
  }
}
