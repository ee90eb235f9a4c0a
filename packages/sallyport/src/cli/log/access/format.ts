import type { ClientTrust } from '@sallyport/core'
import type { Reading } from './reading.ts'

/** Reads a line; `undefined` for one of another format. A `comment` belongs to the format and describes no request. */
export type ReadLine = (line: string) => Reading | 'comment' | undefined

export interface AccessFormat {
  readonly name: string
  /**
   * Opens a reader of a log with these first lines. `isNamed`: the operator has named this format. The reader finds the clients of proxies
   * in `trust`.
   */
  open(first: readonly string[], isNamed: boolean, trust: ClientTrust): ReadLine
}
