import { isDeepStrictEqual } from 'node:util'
import type { NamedList, SourceStatus } from '@sallyport/core'
import { KeptList, UNREAD } from './kept-list.ts'
import { isInline, type ListConfigs } from './list-config.ts'
import { type ListSource, listSource, type SourcePorts } from './list-source.ts'

interface Kept {
  readonly list: KeptList
  readonly source: ListSource
}

export interface ListPorts extends Omit<SourcePorts, 'signal'> {
  readonly onFault: (error: unknown) => void
}

const LOOK_MS = 500

/** Opens the lists of a configuration. Rejects with `invalid_config` for one that cannot be read. */
export async function openLists(config: ListConfigs, ports: ListPorts) {
  let kept: ReadonlyMap<string, Kept> = new Map()
  const closing = new AbortController()

  /** Policies hold it, also those of mounts, which are not compiled again: it answers as the list in force. */
  const follow = (name: string): NamedList => {
    const current = () => kept.get(name)?.list.named ?? UNREAD
    return {
      get isRead() {
        return current().isRead
      },
      holds: (address) => current().holds(address),
      hasSystem: (asn) => current().hasSystem(asn),
      matches: (text) => current().matches(text),
      mentions: (folded) => current().mentions(folded),
    }
  }
  const nameLists = (of: ReadonlyMap<string, Kept>) => new Map([...of.keys()].map((name) => [name, follow(name)]))

  async function prepare(next: ListConfigs): Promise<ReadonlyMap<string, Kept>> {
    const prepared = Object.entries(next).map(async ([name, config]) => {
      const before = kept.get(name)
      // A reload reads files again, and asks no URL before its time.
      const isRemote = !isInline(config) && !('file' in config)
      if (before !== undefined && isRemote && isDeepStrictEqual(before.source.config, config))
        return [name, before] as const
      const list = new KeptList(name)
      const source = listSource(list, config, { ...ports, signal: closing.signal })
      await source.open()
      return [name, { list, source }] as const
    })
    return new Map(await Promise.all(prepared))
  }

  kept = await prepare(config)
  /** Sources that are being looked at: a slow URL holds up no other list. */
  const looking = new Map<ListSource, Promise<void>>()
  const look = (source: ListSource): void => {
    if (looking.has(source)) return
    const done = source
      .look(Date.now())
      .catch(ports.onFault)
      .finally(() => looking.delete(source))
    looking.set(source, done)
  }
  const timer = setInterval(() => {
    for (const { source } of kept.values()) look(source)
  }, LOOK_MS).unref()
  return {
    /** By names, as they are now. */
    get byName(): ReadonlyMap<string, NamedList> {
      return nameLists(kept)
    },
    get status(): readonly SourceStatus[] {
      return [...kept.values()].map(({ list }) => list.status)
    },
    /** Reads the lists of another configuration, and files again. Rejects with `invalid_config`, and then nothing has changed. */
    async prepare(next: ListConfigs) {
      const prepared = await prepare(next)
      return {
        byName: nameLists(prepared),
        /** Has them in force. */
        take(): void {
          kept = prepared
        },
      }
    },
    async close(): Promise<void> {
      clearInterval(timer)
      closing.abort()
      await Promise.all(looking.values())
    },
  }
}
