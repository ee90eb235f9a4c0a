import type { Address } from '../../address/address.ts'

/** A list of the configuration, asked as it was last read. */
export interface NamedList {
  /** False until it was read once: what it holds is not known then. */
  readonly isRead: boolean
  holds(address: Address): boolean
  /** Whether it has the number of an autonomous system. */
  hasSystem(asn: number): boolean
  /** Whether a pattern of it matches. */
  matches(text: string): boolean
  /** Whether a name of it is a word of a user agent in lower case. */
  mentions(folded: string): boolean
}

/** The load of this server: 1 where a limit of it is reached. */
export interface LoadGauge {
  now(): number
  /** Whether a load is on: from so much on, until it has been well below for a while. */
  latch(atLeast: number): () => boolean
}

/** The part of the world that a policy reads besides the request: each member can say another thing at the next one. */
export interface Surroundings {
  readonly lists?: ReadonlyMap<string, NamedList> | undefined
  /** Absent: not measured. */
  readonly load?: LoadGauge | undefined
  /** Whether robots.txt of a host refuses a path to who calls itself so; `undefined` where none was read. */
  readonly robots?: ((userAgent: string, path: string, host: string) => boolean | undefined) | undefined
  /** Paths of the site that exist nowhere. */
  readonly decoys?: readonly string[] | undefined
}

/** The name of a list that an entry stands for: `list:partners`. */
export function listName(entry: string): string | undefined {
  return entry.startsWith('list:') ? entry.slice('list:'.length) : undefined
}

/** Names of the lists in a value of a word. */
export function listsNamed(value: unknown): readonly string[] {
  if (typeof value === 'string') return [listName(value) ?? []].flat()
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listsNamed) : []
}
