import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Fetch, SallyportError } from '@sallyport/core'
import { replaceFile } from '#datasets'
import { withFreeLock, withLock } from '#stores'
import type { KeptList } from './kept-list.ts'
import type { FileConfig, ListConfig, UrlConfig } from './list-config.ts'
import { fetchList, listCopy } from './list-copy.ts'
import { readListFile, readListLines, stampOf } from './read-list.ts'
import { readNow, STALE_TIMES, writtenAt } from './read-lists.ts'

export interface SourcePorts {
  readonly dataDir: string
  /** Nothing is written to dataDir. */
  readonly readOnly: boolean
  /** For lists with a URL; absent: nothing is fetched, and copies are read alone. */
  readonly outbound?: Fetch | undefined
  readonly notice: (message: string) => void
  /** Ends what is being fetched. */
  readonly signal?: AbortSignal | undefined
}

/** The place that a list comes from. */
export interface ListSource {
  readonly config: ListConfig
  /** Reads it for the first time or at a reload, as it is. Rejects with `invalid_config` where a file cannot be read. */
  open(): Promise<void>
  /** Reads it again where it has changed, or is due. */
  look(now: number): Promise<void>
}

const NO_ENTRY = 'is no address, CIDR, system or pattern'

/** Time for the first fetch, for which a start waits (D404). */
const FIRST_MS = 10_000
const RETRY_MS = 60_000

export function listSource(list: KeptList, config: ListConfig, ports: SourcePorts): ListSource {
  if (!('format' in config)) return inlineSource(list, config)
  return 'file' in config ? fileSource(list, config, ports) : urlSource(list, config, ports)
}

function inlineSource(list: KeptList, config: readonly string[]): ListSource {
  return {
    config: [...config],
    async open() {
      const read = await readListLines(config)
      if (read.state === 'refused') throw unusable(`lists.${list.name}`, read.reason)
      const [line] = read.entries.unread
      if (line !== undefined) throw unusable(`lists.${list.name}.${line - 1}`, `${config[line - 1]} ${NO_ENTRY}`)
      list.take(read)
    },
    look: async () => {},
  }
}

function fileSource(list: KeptList, config: FileConfig, { notice }: SourcePorts): ListSource {
  const { file, format } = config
  let inForce: string | undefined
  let seen: string | undefined
  return {
    config,
    async open() {
      inForce = seen = await stampOf(file)
      const read = await readListFile(file, format)
      if (read.state === 'refused') throw unusable(`lists.${list.name}.file`, `${file} ${read.reason}`)
      list.take(read, await writtenAt(file))
    },
    async look() {
      const stamp = await stampOf(file)
      // A file that is written in place is whole when two looks find the same.
      const isSettled = stamp === seen
      seen = stamp
      if (stamp === inForce || !isSettled) return
      inForce = stamp
      const read = await readListFile(file, format)
      if (list.accepts(read)) list.take(read, await writtenAt(file))
      const { news } = list
      if (news !== undefined) notice(`list ${list.name}: ${file} ${news}; the last one stays in use until a reload.`)
    },
  }
}

function urlSource(list: KeptList, config: UrlConfig, ports: SourcePorts): ListSource {
  const { url, refresh, format } = config
  const { dataDir, readOnly, outbound, notice, signal } = ports
  const copy = listCopy(dataDir, list.name, url)
  let inForce: string | undefined
  let next = 0

  const tell = (): void => {
    const { news, isRead } = list
    if (news === undefined) return
    const kept = isRead
      ? `the last one stays in use; without ${copy.path} the next one is taken`
      : 'it holds nothing yet'
    notice(`list ${list.name}: what its url has ${news}; ${kept}.`)
  }
  /** Returns when it was fetched; `undefined` where there is no copy. */
  const readCopy = async (): Promise<number | undefined> => {
    inForce = await stampOf(copy.path)
    const { read, at, staleAfter } = await readNow(dataDir, list.name, config)
    if (at === undefined || read.state !== 'read') return undefined
    list.take(read, at, staleAfter)
    next = at + refresh
    return at
  }
  /** One process of those on a dataDir fetches, and the others read its copy. */
  const pull = async (from: Fetch, timeoutMs: number | undefined): Promise<void> => {
    const at = await readCopy()
    if (Date.now() < next && at !== undefined) return
    const read = await fetchList(from, url, format, { timeoutMs, signal })
    if (signal?.aborted) return
    const now = Date.now()
    next = now + Math.min(refresh, RETRY_MS)
    // A copy that was taken away says that the next list is meant.
    const isTaken = at === undefined && read.state === 'read'
    if (!isTaken && !list.accepts(read)) return tell()
    next = now + refresh
    if (!readOnly) {
      await mkdir(dirname(copy.path), { recursive: true })
      await replaceFile(copy.path, copy.textOf(read.entries))
      inForce = await stampOf(copy.path)
    }
    list.take(read, now, now + STALE_TIMES * refresh)
  }
  const lock = join(dataDir, 'lists.lock')
  return {
    config,
    async open() {
      if ((await readCopy()) !== undefined) return
      if (outbound === undefined) list.fail('was not fetched yet')
      else {
        const task = () => pull(outbound, FIRST_MS)
        const waiting = { signal: AbortSignal.timeout(FIRST_MS) }
        await (readOnly ? task() : withLock(lock, task, waiting)).catch((error: unknown) =>
          list.fail(`could not be fetched: ${error instanceof Error ? error.message : error}`),
        )
      }
      tell()
    },
    async look(now) {
      if ((await stampOf(copy.path)) !== inForce) await readCopy()
      if (outbound === undefined || now < next) return
      const task = () => pull(outbound, undefined)
      await (readOnly ? task() : withFreeLock(lock, task))
    },
  }
}

function unusable(key: string, why: string): SallyportError {
  return new SallyportError('invalid_config', `configuration: ${key}: ${why}`)
}
