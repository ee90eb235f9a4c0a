import type { Members } from '../members.ts'
import type { Lack, Reading } from './reading.ts'

/** Reads a line, with the object that it is where it is JSON; `undefined` for one that is not of the format. A `comment` is of it, and about no request. */
export type ReadLine = (line: string, record: Members | undefined) => Reading | 'comment' | undefined

/** A format of access logs. */
export interface AccessFormat {
  readonly name: string
  /** The programs that write it. */
  readonly of: string
  /** Cures by what its lines lack; a format that never has user agents is known by name, and judged never. */
  readonly cures?: Readonly<Partial<Record<Lack, string>>> | undefined
  /** Opens a reader of one log, of which these are the first lines; `isSaid`: the log is said to be in this format. */
  open(first: readonly string[], isSaid: boolean): ReadLine
}
