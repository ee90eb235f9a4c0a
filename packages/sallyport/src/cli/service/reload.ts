import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '@sallyport/core'
import { systemFault } from '@sallyport/engine/files'
import type { Hangups } from '../workers/hangups.ts'

/** How often a file that is watched is looked at. */
const LOOK_MS = 1_000
/** As many looks fail before it is said: who replaces a file may take it away for a moment. */
const MISSED_LOOKS = 2

/** A signal, or a changed file. */
export type ReloadCause = 'SIGHUP' | 'watch'

/** The source that is looked at for changes. */
export interface Watched {
  /** Rejects where it cannot be read. */
  hasChanged(): Promise<boolean>
  /** One sentence: it cannot be looked at any more, or can again. */
  onNotice(message: string): void
}

/**
 * Calls `reload` at SIGHUP and, where something is watched, when that has changed; one at a time, and once for all causes
 * that come meanwhile. Returns what ends it, a reload too; SIGHUP does nothing after that, where by default it would end a
 * process that finishes its last requests. Content is looked at, not events of a folder: those end with the folder, and
 * are silent about the target of a link.
 */
export function onReload(
  reload: (cause: ReloadCause, signal: AbortSignal) => Promise<void>,
  hangups: Hangups,
  watched?: Watched,
): () => void {
  const ending = new AbortController()
  const { signal } = ending
  let waiting: ReloadCause | undefined
  let running = false

  const next = async (cause: ReloadCause): Promise<void> => {
    waiting ??= cause
    if (running) return
    running = true
    try {
      for (; waiting !== undefined && !signal.aborted; ) {
        const now = waiting
        waiting = undefined
        await reload(now, signal)
      }
    } finally {
      running = false
    }
  }
  const watch = async ({ hasChanged, onNotice }: Watched): Promise<void> => {
    let missed = 0
    const look = async (): Promise<boolean> => {
      try {
        const changed = await hasChanged()
        if (missed >= MISSED_LOOKS) onNotice('watch: the configuration is readable again')
        missed = 0
        return changed
      } catch (error) {
        if (++missed === MISSED_LOOKS) {
          const why = systemFault(error) ?? errorText(error)
          onNotice(`watch: ${why}; the configuration stays as it is, and is looked for every second`)
        }
        return false
      }
    }
    for (;;) {
      await delay(LOOK_MS, undefined, { signal, ref: false })
      // A change that a reload reads meanwhile is no other one.
      if (!running && (await look()) && !running) await next('watch')
    }
  }

  hangups.take(() => void next('SIGHUP'))
  if (watched !== undefined) {
    watch(watched).catch((error: unknown) => {
      if (!signal.aborted)
        watched.onNotice(`watch: it has ended (${error}); SIGHUP still reads the configuration again`)
    })
  }
  return () => ending.abort()
}
