import type { Database } from './driver.ts'

/** Calls `read` at the first look and after each commit of another connection; looks every `everyMs`. `look` throws what `read` throws. */
export function followChanges(database: Database, everyMs: number, read: () => void) {
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
  return { look, stop: (): void => clearInterval(timer) }
}
