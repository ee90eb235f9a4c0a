import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText, type Fetch, SallyportError } from '@sallyport/core'
import { replaceFile } from '#files'
import { withFreeLock, withLock } from '#stores/service'
import { type AskBounds, createDecisions, type DecisionsRead } from './crowdsec-decisions.ts'
import { everybodyFault } from './faults.ts'
import type { KeptList } from './kept-list.ts'
import { type FileConfig, isInline, type ListConfig, type RemoteConfig, remoteUrl } from './list-config.ts'
import { fetchList, listCopy } from './list-copy.ts'
import { readListFile, readListLines, stampFile, type WholeRead } from './read-list.ts'
import { readNow, STALE_TIMES, writtenAt } from './read-lists.ts'

export interface SourcePorts {
  readonly dataDir: string
  /** True if nothing may be written to dataDir. */
  readonly readOnly: boolean
  /** Fetches lists with a URL; if absent, nothing is fetched and only copies are read. */
  readonly outbound?: Fetch | undefined
  readonly notice: (message: string) => void
  /** Aborts a fetch that is under way. */
  readonly signal?: AbortSignal | undefined
}

/** Reads a list from its origin. */
export interface ListSource {
  readonly config: ListConfig
  /** Reads the list first, or at a reload, in any state. Rejects with `invalid_config` if a file cannot be read. */
  open(): Promise<void>
  /** Reads the list again if it has changed or is due. */
  look(now: number): Promise<void>
}

/** Time for the first fetch. A start waits for it, because a rule that blocks by the list does not apply until then. */
const FIRST_MS = 10_000
const RETRY_MS = 60_000

export function listSource(list: KeptList, config: ListConfig, ports: SourcePorts): ListSource {
  if (isInline(config)) return inlineSource(list, config)
  return 'file' in config ? fileSource(list, config, ports) : remoteSource(list, config, ports)
}

function inlineSource(list: KeptList, config: readonly string[]): ListSource {
  return {
    config: [...config],
    async open() {
      const read = await readListLines(config, true)
      const fault = read.state === 'refused' ? read.reason : everybodyFault(read.entries.prefixes)
      if (read.state === 'refused' || fault !== undefined) throw unusable(`lists.${list.name}`, fault ?? '')
      list.take(read)
    },
    look: async () => {},
  }
}

function fileSource(list: KeptList, config: FileConfig, { notice }: SourcePorts): ListSource {
  const { file, format, wide } = config
  let inForce: string | undefined
  let seen: string | undefined
  return {
    config,
    async open() {
      inForce = seen = await stampFile(file)
      const read = await readListFile(file, format, wide)
      if (read.state === 'refused') throw unusable(`lists.${list.name}.file`, `${file} ${read.reason}`)
      list.take(read, await writtenAt(file))
      for (const news of list.takeLeftNews()) notice(news)
    },
    async look() {
      const stamp = await stampFile(file)
      // A file that is written in place is complete when two reads find the same stamp.
      const isSettled = stamp === seen
      seen = stamp
      if (stamp === inForce || !isSettled) return
      inForce = stamp
      const read = await readListFile(file, format, wide)
      if (list.accepts(read)) list.take(read, await writtenAt(file))
      for (const news of list.takeLeftNews()) notice(news)
      const { news } = list
      if (news !== undefined) notice(`list ${list.name}: ${file} ${news}. The last copy stays until a reload.`)
    },
  }
}

function remoteFor(config: RemoteConfig, copy: string, signal: AbortSignal | undefined) {
  if ('crowdsec' in config) {
    const { ask } = createDecisions(config, signal)
    const kept = `Its previous decisions stay in use. To accept the next response, delete ${copy}`
    // Decisions expire without a response.
    return { ask, isLive: true, subject: 'CrowdSec', kept }
  }
  return {
    ask: (from: Fetch, { timeoutMs }: AskBounds): Promise<DecisionsRead> =>
      fetchList(from, config, { timeoutMs, signal }),
    isLive: false,
    subject: 'the response of its URL',
    kept: `The last copy stays in use. To accept the next download, delete ${copy}`,
  }
}

function remoteSource(list: KeptList, config: RemoteConfig, ports: SourcePorts): ListSource {
  const url = remoteUrl(config)
  const { refresh } = config
  const { dataDir, readOnly, outbound, notice, signal } = ports
  const copy = listCopy(dataDir, list.name, url, config.wide)
  const { ask, isLive, subject, kept } = remoteFor(config, copy.path, signal)
  /** Stamps the copy that was read or written last, and says when that copy was fetched. */
  let inForce: string | undefined
  let inForceAt: number | undefined
  let written: string | undefined
  let next = 0
  /** True if the last response was not accepted: later changes are then not all that is new. */
  let isMissed = false

  const tell = (): void => {
    for (const news of list.takeLeftNews()) notice(news)
    const { news, named } = list
    if (news !== undefined)
      notice(`list ${list.name}: ${subject} ${news}. ${named.isRead ? kept : 'The list is empty'}.`)
  }
  /** Returns when the copy was fetched; `undefined` if there is none. */
  const readCopy = async (): Promise<number | undefined> => {
    const stamp = await stampFile(copy.path)
    if (stamp !== undefined && stamp === inForce && list.named.isRead) return inForceAt
    inForce = stamp
    inForceAt = undefined
    const { read, at, staleAfter } = await readNow(dataDir, list.name, config)
    if (at === undefined || read.state !== 'read') return undefined
    list.take(read, at, staleAfter)
    next = at + refresh
    inForceAt = at
    return at
  }
  /** Keeps what was fetched at a time; if `undefined`, the copy is still current. */
  const keep = async (read: WholeRead | undefined, at: number): Promise<void> => {
    if (readOnly) return
    if (read !== undefined) {
      await mkdir(dirname(copy.path), { recursive: true })
      await replaceFile(copy.path, copy.writeText(read.entries))
    }
    await utimes(copy.path, new Date(), new Date(at))
    inForce = written = await stampFile(copy.path)
    inForceAt = at
  }
  /** Only one process on a dataDir fetches the list; the other processes read its copy. */
  const pull = async (from: Fetch, timeoutMs: number | undefined): Promise<void> => {
    const at = await readCopy()
    if (Date.now() < next && at !== undefined) return
    const read = await ask(from, { timeoutMs, isLast: inForce === written && !isMissed })
    if (signal?.aborted) return
    const now = Date.now()
    next = now + Math.min(refresh, RETRY_MS)
    if (read.state === 'unchanged') {
      list.renew(now, now + STALE_TIMES * refresh)
      next = now + refresh
      return keep(undefined, now)
    }
    // If the operator deleted the copy, the next response is accepted regardless of its size.
    const isTaken = at === undefined && read.state === 'read'
    isMissed = read.state === 'read'
    if (!isTaken && !list.accepts(read, { isLive })) return tell()
    isMissed = false
    if (read.outdated === undefined) next = now + refresh
    await keep(read, read.outdated === undefined ? now : (at ?? now))
    list.take(read, now, now + STALE_TIMES * refresh)
    tell()
  }
  const lock = join(dataDir, 'lists.lock')
  return {
    config,
    async open() {
      if ((await readCopy()) !== undefined) return
      if (outbound === undefined) list.fail('has not been fetched yet')
      else {
        const task = () => pull(outbound, FIRST_MS)
        const waiting = { signal: AbortSignal.timeout(FIRST_MS) }
        await (readOnly ? task() : withLock(lock, task, waiting)).catch((error: unknown) =>
          list.fail(`could not be fetched: ${errorText(error)}`),
        )
      }
      tell()
    },
    async look(now) {
      if ((await stampFile(copy.path)) !== inForce) await readCopy()
      if (outbound === undefined || now < next) return
      const task = () => pull(outbound, undefined)
      await (readOnly ? task() : withFreeLock(lock, task))
    },
  }
}

function unusable(key: string, why: string): SallyportError {
  return new SallyportError('invalid_config', `configuration: ${key}: ${why}`)
}
