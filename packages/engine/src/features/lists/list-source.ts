import { mkdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText, type Fetch, SallyportError } from '@sallyport/core'
import { replaceFile } from '#datasets/service'
import { withFreeLock, withLock } from '#stores/service'
import { type AskBounds, createDecisions, type DecisionsRead } from './crowdsec-decisions.ts'
import type { KeptList } from './kept-list.ts'
import { type FileConfig, isInline, type ListConfig, type RemoteConfig, remoteUrl } from './list-config.ts'
import { fetchList, listCopy } from './list-copy.ts'
import { readListFile, readListLines, stampOf, type WholeRead } from './read-list.ts'
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

const NO_ENTRY = 'is not an address, CIDR, system or pattern'

/** Time for the first fetch. A start waits for it, because a rule that blocks by the list is open until then. */
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
      if (read.state === 'refused') throw unusable(`lists.${list.name}`, read.reason)
      const [line] = read.entries.unread
      if (line !== undefined) throw unusable(`lists.${list.name}.${line - 1}`, `${config[line - 1]} ${NO_ENTRY}`)
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
      inForce = seen = await stampOf(file)
      const read = await readListFile(file, format, wide)
      if (read.state === 'refused') throw unusable(`lists.${list.name}.file`, `${file} ${read.reason}`)
      list.take(read, await writtenAt(file))
      tellWithheld(list, notice)
    },
    async look() {
      const stamp = await stampOf(file)
      // A file that is written in place is whole when two looks find the same.
      const isSettled = stamp === seen
      seen = stamp
      if (stamp === inForce || !isSettled) return
      inForce = stamp
      const read = await readListFile(file, format, wide)
      if (list.accepts(read)) list.take(read, await writtenAt(file))
      tellWithheld(list, notice)
      const { news } = list
      if (news !== undefined) notice(`list ${list.name}: ${file} ${news}; the last one stays in use until a reload.`)
    },
  }
}

/** How a list is asked for, and what its notices say. */
interface Remote {
  ask(from: Fetch, bounds: AskBounds): Promise<DecisionsRead>
  /** Decisions that end by themselves. */
  readonly isLive: boolean
  readonly subject: string
  readonly kept: string
}

function remoteFor(config: RemoteConfig, copy: string, signal: AbortSignal | undefined): Remote {
  if ('crowdsec' in config) {
    const { ask } = createDecisions(config, signal)
    const kept = `what it had decided stays in use; without ${copy} the next answer is taken`
    return { ask, isLive: true, subject: 'CrowdSec', kept }
  }
  return {
    ask: (from, { timeoutMs }) => fetchList(from, config, { timeoutMs, signal }),
    isLive: false,
    subject: 'what its url has',
    kept: `the last one stays in use; without ${copy} the next one is taken`,
  }
}

function remoteSource(list: KeptList, config: RemoteConfig, ports: SourcePorts): ListSource {
  const url = remoteUrl(config)
  const { refresh } = config
  const { dataDir, readOnly, outbound, notice, signal } = ports
  const copy = listCopy(dataDir, list.name, url, config.wide)
  const { ask, isLive, subject, kept } = remoteFor(config, copy.path, signal)
  /** The copy that was read or written last, and when it was fetched. */
  let inForce: string | undefined
  let inForceAt: number | undefined
  let written: string | undefined
  let next = 0
  /** The last answer was not taken: changes since then are not all that is new. */
  let isMissed = false

  const tell = (): void => {
    tellWithheld(list, notice)
    const { news, isRead } = list
    if (news !== undefined) notice(`list ${list.name}: ${subject} ${news}; ${isRead ? kept : 'it holds nothing yet'}.`)
  }
  /** Returns when it was fetched; `undefined` where there is no copy. */
  const readCopy = async (): Promise<number | undefined> => {
    const stamp = await stampOf(copy.path)
    if (stamp !== undefined && stamp === inForce && list.isRead) return inForceAt
    inForce = stamp
    inForceAt = undefined
    const { read, at, staleAfter } = await readNow(dataDir, list.name, config)
    if (at === undefined || read.state !== 'read') return undefined
    list.take(read, at, staleAfter)
    next = at + refresh
    inForceAt = at
    return at
  }
  /** Keeps what was fetched at a time; `undefined`: the copy is still that. */
  const keep = async (read: WholeRead | undefined, at: number): Promise<void> => {
    if (readOnly) return
    if (read !== undefined) {
      await mkdir(dirname(copy.path), { recursive: true })
      await replaceFile(copy.path, copy.textOf(read.entries))
    }
    await utimes(copy.path, new Date(), new Date(at))
    inForce = written = await stampOf(copy.path)
    inForceAt = at
  }
  /** One process of those on a dataDir fetches, and the others read its copy. */
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
    // A copy that was taken away says that the next list is meant.
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
      if (outbound === undefined) list.fail('was not fetched yet')
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
      if ((await stampOf(copy.path)) !== inForce) await readCopy()
      if (outbound === undefined || now < next) return
      const task = () => pull(outbound, undefined)
      await (readOnly ? task() : withFreeLock(lock, task))
    },
  }
}

function tellWithheld(list: KeptList, notice: SourcePorts['notice']): void {
  const { withheldNews } = list
  if (withheldNews !== undefined) notice(withheldNews)
}

function unusable(key: string, why: string): SallyportError {
  return new SallyportError('invalid_config', `configuration: ${key}: ${why}`)
}
