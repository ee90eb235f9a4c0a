/** A file that a source is read from. */
export interface SourceFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** When it came to lie there, milliseconds since the epoch. */
  readonly modified: number
  /** Version of the npm package that brought it. */
  readonly version?: string
  /** When it was made, as its publisher says, milliseconds since the epoch. */
  readonly made?: number
}
