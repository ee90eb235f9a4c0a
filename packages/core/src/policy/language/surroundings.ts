import type { Address } from '../../address/address.ts'

export interface NamedList {
  /** False until it was read once: its entries are not known then. */
  readonly isRead: boolean
  holds(address: Address): boolean
  hasSystem(asn: number): boolean
  matches(text: string): boolean
  /** Reports whether a user agent, in lower case, contains one of its names as a word. */
  mentions(folded: string): boolean
}

/** Measures the load of this server: 1 where it reaches a limit. */
export interface LoadGauge {
  now(): number
  /** Reports a load from this value on, until it has been well below for a while. */
  latch(atLeast: number): () => boolean
}

/** Holds the facts besides the request that a policy reads: each member can differ at the next request. */
export interface Surroundings {
  readonly lists?: ReadonlyMap<string, NamedList> | undefined
  /** Absent where the load is not measured. */
  readonly load?: LoadGauge | undefined
  /** Reports whether robots.txt of a host refuses a path to this user agent; `undefined` where none was read. */
  readonly robots?: ((userAgent: string, path: string, host: string) => boolean | undefined) | undefined
  /** Lists paths of the site that exist nowhere. */
  readonly decoys?: readonly string[] | undefined
}

/** Returns the name of the list that an entry refers to: `list:partners`. */
export function listName(entry: string): string | undefined {
  return entry.startsWith('list:') ? entry.slice('list:'.length) : undefined
}

/** Finds the lists that a value of a word names. */
export function findLists(value: unknown, { lists }: Surroundings): readonly NamedList[] {
  return listsNamed(value).flatMap((name) => lists?.get(name) ?? [])
}

/** Returns the names of the lists in a value of a word. */
export function listsNamed(value: unknown): readonly string[] {
  if (typeof value === 'string') return [listName(value) ?? []].flat()
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listsNamed) : []
}
