import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '@sallyport/core'
import { systemFault } from '@sallyport/engine/files'
import type { Hangups } from '../workers/hangups.ts'

/** A watched file is checked after each such pause. */
const LOOK_MS = 1_000
/** A notice comes after so many failed checks: a file may be missing for a moment while a program replaces it. */
const MISSED_LOOKS = 2

/** Names what causes a reload: a signal, or a changed file. */
export type ReloadCause = 'SIGHUP' | 'watch'

/** Represents the source that is checked for changes. */
export interface Watched {
  /** Rejects where the source cannot be read. */
  hasChanged(): Promise<boolean>
  /** Takes one sentence: the source cannot be checked any more, or can again. */
  onNotice(message: string): void
}

/**
 * Calls `reload` at SIGHUP and, where a source is watched, when the source has changed; one call at a time, and one for all causes that
 * come meanwhile. Returns a function that stops this and a running reload. After that SIGHUP does nothing, because by default it would end
 * a process that finishes its last requests. It compares content, because events of a folder end with the folder, and miss the target of a
 * link.
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
          onNotice(`watch: ${why}. The configuration in force stays; the file is checked every second`)
        }
        return false
      }
    }
    for (;;) {
      await delay(LOOK_MS, undefined, { signal, ref: false })
      // A reload in progress reads this change too.
      if (!running && (await look()) && !running) await next('watch')
    }
  }

  hangups.take(() => void next('SIGHUP'))
  if (watched !== undefined) {
    watch(watched).catch((error: unknown) => {
      if (!signal.aborted)
        watched.onNotice(`watch: watching has stopped (${error}). Send SIGHUP to reload the configuration`)
    })
  }
  return () => ending.abort()
}
