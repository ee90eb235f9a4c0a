import { stat } from 'node:fs/promises'
import type { NamedList } from '@sallyport/core'
import { KeptList, UNREAD } from './kept-list.ts'
import { isInline, type ListConfig, type ListsOfConfig, remoteUrl } from './list-config.ts'
import { listCopy } from './list-copy.ts'
import { type ListRead, readListFile, readListLines } from './read-list.ts'

/** A list is stale when its URL could not be read for so many times its `refresh`. */
export const STALE_TIMES = 3

/** Reads a list as it is now, of a URL the last copy, with the time at which that was written. */
export async function readNow(
  dataDir: string,
  name: string,
  config: ListConfig,
): Promise<{ read: ListRead; at?: number; staleAfter?: number }> {
  if (isInline(config)) return { read: await readListLines(config, true) }
  if ('file' in config) {
    return { read: await readListFile(config.file, config.format, config.wide), at: await writtenAt(config.file) }
  }
  const url = remoteUrl(config)
  const copy = listCopy(dataDir, name, url, config.wide)
  const at = await copy.at()
  if (at === undefined) return { read: { state: 'refused', reason: 'has not been fetched yet' } }
  return { read: await copy.read(), at, staleAfter: at + STALE_TIMES * config.refresh }
}

export async function writtenAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now()
}

/** Reads lists as they are now; one that cannot be read is there, and not known. */
export async function readKeptLists(
  { lists, dataDir }: ListsOfConfig,
  names: readonly string[] = Object.keys(lists),
): Promise<ReadonlyMap<string, KeptList>> {
  const read = names.map(async (name) => {
    const list = new KeptList(name)
    const config = Object.hasOwn(lists, name) ? lists[name] : undefined
    if (config !== undefined) {
      const { read, at, staleAfter } = await readNow(dataDir, name, config)
      if (list.accepts(read)) list.take(read, at, staleAfter)
    }
    return [name, list] as const
  })
  return new Map(await Promise.all(read))
}

/** Reads the lists of these names as policies read them. */
export async function readLists(config: ListsOfConfig, names: readonly string[]) {
  const kept = await readKeptLists(config, names)
  return new Map([...kept].map(([name, { named }]) => [name, named]))
}

/** The lists of a configuration by names alone, for checks that ask none. */
export function listNames({ lists }: Pick<ListsOfConfig, 'lists'>): ReadonlyMap<string, NamedList> {
  return new Map(Object.keys(lists).map((name) => [name, UNREAD]))
}
