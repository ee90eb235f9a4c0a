import type { PrefixSet } from '../address/prefix-set.ts'

/** A list of the configuration, as it was last read. */
export interface NamedList {
  readonly addresses: PrefixSet
  /** Numbers of autonomous systems. */
  readonly systems: readonly number[]
  /** Every other entry: patterns of texts. */
  readonly texts: readonly string[]
}

/** What a policy reads besides the request. A list that changes is another policy; the load is asked at each request. */
export interface Surroundings {
  readonly lists?: ReadonlyMap<string, NamedList> | undefined
  /** Load of this server: 1 where a limit of it is reached. Absent: not measured. */
  readonly load?: (() => number) | undefined
  /** Whether robots.txt refuses a path to who calls itself so; `undefined` where none was read. */
  readonly robots?: ((userAgent: string, path: string) => boolean | undefined) | undefined
}

/** The name of a list that an entry stands for: `list:partners`. */
export function listName(entry: string): string | undefined {
  return entry.startsWith('list:') ? entry.slice('list:'.length) : undefined
}
