import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '@sallyport/core'
import { systemFault } from '@sallyport/engine/files'
import type { ConfigSource } from '../settings/config-file.ts'
import type { Hangups } from '../workers/hangups.ts'

const LOOK_MS = 1_000
/** A notice comes after so many failed checks: a file may be missing for a moment while a program replaces it. */
const MISSED_LOOKS = 2

/** Names what causes a reload: a signal, or a changed file. */
export type ReloadCause = 'SIGHUP' | 'watch'

/**
 * Calls `reload` at SIGHUP and, where a source is watched, when the source has changed; one call at a time, and one for all causes that
 * come meanwhile. `onNotice` takes one sentence: the source cannot be checked any more, or can again. Returns a function that stops this and a running reload. After that SIGHUP does nothing, because by default it would end
 * a process that finishes its last requests. It checks at an interval, because events of a folder end with the folder, and miss the target
 * of a link.
 */
export function onReload(
  reload: (cause: ReloadCause, signal: AbortSignal) => Promise<void>,
  hangups: Hangups,
  hasChanged: ConfigSource['hasChanged'] | undefined,
  onNotice: (message: string) => void,
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
      while (waiting !== undefined && !signal.aborted) {
        const now = waiting
        waiting = undefined
        await reload(now, signal)
      }
    } finally {
      running = false
    }
  }
  const watch = async (hasChanged: ConfigSource['hasChanged']): Promise<void> => {
    for (let missed = 0; ; ) {
      await delay(LOOK_MS, undefined, { signal, ref: false })
      // A reload in progress reads this change too.
      if (running) continue
      try {
        const changed = hasChanged()
        if (missed >= MISSED_LOOKS) onNotice('watch: the configuration is readable again')
        missed = 0
        if (changed) await next('watch')
      } catch (error) {
        const why = systemFault(error) ?? errorText(error)
        if (++missed === MISSED_LOOKS)
          onNotice(`watch: ${why}. The configuration in force stays; the file is checked every second`)
      }
    }
  }

  hangups(() => void next('SIGHUP'))
  // Only the abort of its pause ends it.
  if (hasChanged !== undefined) watch(hasChanged).catch(() => {})
  return () => ending.abort()
}
