import { createHash } from 'node:crypto'
import { HOUR_MS, type ObservedRequest } from '@sallyport/core'
import { type CountedRow, createTally, type TallyOptions } from './tally.ts'
import { type Mark, openTallyFile } from './tally-file.ts'

/** How often counts are written: a process that is killed loses the counts since the last write. */
const WRITE_MS = 5_000

export interface KeeperOptions extends TallyOptions {
  readonly file: string
  /** How long counts are kept, in milliseconds. */
  readonly keepMs: number
  readonly now: () => number
  readonly onFault: (error: unknown) => void
}

export type TallyKeeper = ReturnType<typeof createTallyKeeper>

/** Keeps the tally of a service. The first count opens its file: a command that answers a question leaves none. */
export function createTallyKeeper(config: object, options: KeeperOptions) {
  const { file: path, keepMs, now, onFault } = options
  let policy = hashConfig(config)
  const tally = createTally(policy, options)
  let marks: readonly Mark[] = [{ at: now(), policy, changed: ['start'] }]
  let timer: NodeJS.Timeout | undefined
  let file: Awaited<ReturnType<typeof openTallyFile>> | undefined
  let purged = 0
  let writing: Promise<void> | undefined

  async function write(): Promise<void> {
    try {
      if (tally.slots.length === 0) return
      file ??= await openTallyFile(path)
      const written = marks
      await file.write(tally.slots, written)
      marks = marks.filter((one) => !written.includes(one))
      tally.forget(now())
      const oldest = Math.floor((now() - keepMs) / HOUR_MS)
      if (oldest > purged) await file.purge(oldest)
      purged = oldest
    } catch (error) {
      // Counts that could not be written are kept, and written the next time.
      onFault(error)
    }
  }

  const flush = (): Promise<void> => {
    writing ??= write().finally(() => {
      writing = undefined
    })
    return writing
  }

  return {
    observe(observed: ObservedRequest, row: CountedRow | undefined): void {
      tally.observe(observed, row)
      timer ??= setInterval(() => void flush(), WRITE_MS).unref()
    },
    /** Another configuration is in force; `changed` lists its keys that changed. */
    turn(next: object, changed: readonly string[]): void {
      const fingerprint = hashConfig(next)
      if (fingerprint === policy) return
      policy = fingerprint
      tally.turn(policy)
      marks = [...marks, { at: now(), policy, changed }]
    },
    /** Writes what is counted. */
    flush,
    /** Flushes for the last time, and gives the file back. */
    async close(): Promise<void> {
      clearInterval(timer)
      await flush()
      // Requests that came while an earlier flush was under way.
      await flush()
      file?.close()
    },
  }
}

/** Returns a text that tells configurations apart, and reveals nothing of them. */
function hashConfig(config: object): string {
  return createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 12)
}
