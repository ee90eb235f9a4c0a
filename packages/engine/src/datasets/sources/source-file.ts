import { hash } from 'node:crypto'
import { dayOf } from '../format/days.ts'

/** A file that a source is read from. */
export interface SourceFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** When it was last changed, milliseconds since the epoch, in whole seconds: layers of images keep no more. */
  readonly modified: number
  /** Version of the npm package that brought it. */
  readonly version?: string | undefined
  /** The configuration names it, by a `file:` URL. */
  readonly own?: true | undefined
  /** When it was made, as its publisher says, milliseconds since the epoch. */
  readonly made?: number | undefined
}

/**
 * The members of a file that tell it from another of its source. One of a package is the same wherever and whenever it was
 * unpacked, so that data that was compiled when an image was made is found when it runs.
 */
export function identityOf({ path, modified, ...file }: SourceFile): Partial<SourceFile> {
  return file.version === undefined ? { path, modified, ...file } : file
}

/**
 * The day a file was true, `YYYY-MM-DD`: from a package version such as 2.3.2026061719, from what its publisher says, or
 * else from its own time.
 */
export function dateOfFile({ version, made, modified }: SourceFile): string {
  const stamp = version === undefined ? null : /\.(20\d\d)(0[1-9]|1[0-2])(\d\d)\d\d$/.exec(version)
  return stamp === null ? dayOf(made ?? modified) : `${stamp[1]}-${stamp[2]}-${stamp[3]}`
}

/** SHA-256 of a file's bytes in hexadecimal: what an attestation names the data by. */
export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}
