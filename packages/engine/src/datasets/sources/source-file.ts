import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { SallyportError } from '@sallyport/core'
import { dayOf } from '../format/days.ts'

/** A file that a source is read from. */
export interface SourceFile {
  readonly path: string
  /** Bytes of its contents. */
  readonly size: number
  /** When it was last changed, milliseconds since the epoch, in whole seconds: layers of images keep no more. */
  readonly modified: number
  /** Identifies a file that a package brought: the package's version, or the SHA-256 of the contents. */
  readonly origin?: string | undefined
  /** It is packed by Brotli. */
  readonly packed?: true | undefined
  /** The configuration names it, by a `file:` URL. */
  readonly own?: true | undefined
  /** When it was made, as its publisher says, milliseconds since the epoch. */
  readonly made?: number | undefined
}

/**
 * The members of a file that tell it from another of its source. One of a package is the same wherever and whenever it was
 * unpacked, so that data that was compiled when an image or a release was made is found when it runs.
 */
export function identityOf({ path, modified, ...file }: SourceFile): Partial<SourceFile> {
  return file.origin === undefined ? { path, modified, ...file } : file
}

/** The day a file was true, `YYYY-MM-DD`: from what its publisher says, or else from its own time. */
export function dateOfFile({ made, modified }: SourceFile): string {
  return dayOf(made ?? modified)
}

/** The contents of a file. Throws `corrupt_data` naming one that cannot be unpacked. */
export function readSource({ path, packed }: SourceFile): Buffer {
  const bytes = readFileSync(path)
  if (!packed) return bytes
  try {
    return brotliDecompressSync(bytes)
  } catch (error) {
    throw new SallyportError('corrupt_data', `${path}: ${error}`)
  }
}

/** SHA-256 of a file's bytes in hexadecimal: what an attestation names the data by. */
export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}
