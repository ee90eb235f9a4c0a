import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Editors write a file in several steps. */
const SETTLED_MS = 200

/** A signal, or a changed file. */
export type ReloadCause = 'SIGHUP' | 'watch'

/**
 * Calls `reload` at SIGHUP and, where a file is named, when that has changed; one at a time. Returns what ends it. The
 * folder is watched, because editors put a new file in the place of the old one.
 */
export function onReload(reload: (cause: ReloadCause) => Promise<void>, watched?: string): () => void {
  let last: Promise<void> = Promise.resolve()
  let settled: NodeJS.Timeout | undefined
  const next = (cause: ReloadCause): void => {
    last = last.then(() => reload(cause))
  }
  const onSignal = (): void => next('SIGHUP')
  process.on('SIGHUP', onSignal)
  let watcher: FSWatcher | undefined
  if (watched !== undefined) {
    watcher = watch(dirname(watched), (_, name) => {
      if (name !== null && name !== basename(watched)) return
      clearTimeout(settled)
      settled = setTimeout(next, SETTLED_MS, 'watch')
    })
    watcher.on('error', () => watcher?.close())
  }
  return () => {
    process.off('SIGHUP', onSignal)
    clearTimeout(settled)
    watcher?.close()
  }
}
