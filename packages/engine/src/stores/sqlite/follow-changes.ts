import type { Database } from './driver.ts'

/** Follows what other connections commit. */
export interface Following {
  /** Reads again where another connection has committed since. Throws what `read` throws. */
  look(): void
  stop(): void
}

/** Calls `read` at the first look and after each commit of another connection; looks every `everyMs`, and keeps no process alive. */
export function followChanges(database: Database, everyMs: number, read: () => void): Following {
  const version = database.prepare('PRAGMA data_version')
  let seen: unknown
  const look = (): void => {
    const current = version.get()?.['data_version']
    if (current === seen) return
    read()
    seen = current
  }
  const timer = setInterval(() => {
    try {
      look()
    } catch {
      // Another process holds the file at this instant: what is known stays, and the next look sees the rest.
    }
  }, everyMs).unref()
  return { look, stop: () => clearInterval(timer) }
}
