import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { SallyportError } from '@sallyport/core'
import { formatDay } from '../format/days.ts'

/** A file that a source is read from. */
export interface SourceFile {
  readonly path: string
  /** Counts the bytes of its contents. */
  readonly size: number
  /** When it was last changed, milliseconds since the epoch, in whole seconds: layers of images keep no more. */
  readonly modified: number
  /** Identifies a file that a package brought: the package's version, or the SHA-256 of the contents. */
  readonly origin?: string | undefined
  /** The file is packed by Brotli. */
  readonly packed?: true | undefined
  /** The configuration names the file, by a `file:` URL. */
  readonly own?: true | undefined
  /** When it was made, as its publisher says, milliseconds since the epoch. */
  readonly made?: number | undefined
}

/**
 * Returns the members that tell a file from another of its source. A file of a package is the same wherever and whenever it was unpacked,
 * so that data that was compiled when an image or a release was made is found when it runs.
 */
export function identifyFile({ path, modified, ...file }: SourceFile): Partial<SourceFile> {
  return file.origin === undefined ? { path, modified, ...file } : file
}

/** Returns the day on which a file was true, `YYYY-MM-DD`: as its contents say, else as its publisher says, else from its own time. */
export function findFileDate(file: SourceFile, made = file.made): string {
  return formatDay(made ?? file.modified)
}

/** Reads the contents of a file. Throws `corrupt_data` naming a file that cannot be unpacked. */
export function readSource({ path, packed }: SourceFile): Buffer {
  const bytes = readFileSync(path)
  if (!packed) return bytes
  try {
    return brotliDecompressSync(bytes)
  } catch (error) {
    throw new SallyportError('corrupt_data', `${path}: ${error}`)
  }
}

/** Computes the SHA-256 of a file's bytes in hexadecimal. Attestations name the data by it. */
export function computeSha256(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}
