import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '@sallyport/core'
import { makeFolder } from '@sallyport/engine/files'

const FOLDER = 'console-ended'
/** Keeps ended sessions longer than they would have lasted, for clocks that go back. */
const KEPT_MS = DAY_MS
/** Drops expired entries once there are so many. */
const MANY = 1_000

export type Ended = ReturnType<typeof openEnded>

/**
 * Opens the record of sessions and links that were ended early, by their nonces; times are in milliseconds since the epoch. Each ended session is an empty file in `<dataDir>/console-ended`, so that it stays ended after a restart, and in every
 * process, including one that was starting; only one of several processes ends it. Where the folder cannot be written, it calls `onFault`
 * once and keeps the record in this process's memory, as without a dataDir.
 */
export function openEnded(dataDir: string | undefined, onFault: (error: unknown) => void, now = Date.now()) {
  const folder = dataDir === undefined ? undefined : join(dataDir, FOLDER)
  const known = new Map(folder === undefined ? [] : endedIn(folder))
  let isFaulty = false

  function drop(now: number): void {
    for (const [name, until] of known) {
      if (until + KEPT_MS > now) continue
      known.delete(name)
      if (folder !== undefined) rmSync(join(folder, name), { force: true })
    }
  }

  function write(name: string): boolean {
    if (folder === undefined) return true
    try {
      makeFolder(folder, 0o700)
      writeFileSync(join(folder, name), '', { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
      if (!isFaulty) onFault(error)
      isFaulty = true
    }
    return true
  }

  if (known.size > 0) drop(now)
  return {
    has(nonce: string, until: number): boolean {
      const name = nameFile(nonce, until)
      return known.has(name) || (folder !== undefined && existsSync(join(folder, name)))
    },
    /** Ends a session that would have lasted until then; returns false where it was ended already. */
    add(nonce: string, until: number, now: number): boolean {
      const name = nameFile(nonce, until)
      if (known.has(name)) return false
      if (known.size >= MANY) drop(now)
      known.set(name, until)
      return write(name)
    },
  }
}

/** Puts the time first, so that the name alone shows which file can go. */
function nameFile(nonce: string, until: number): string {
  return `${until}.${nonce}`
}

function endedIn(folder: string): readonly (readonly [name: string, until: number])[] {
  try {
    return readdirSync(folder).flatMap((name) =>
      /^\d{1,16}\.[\w-]{16}$/.test(name) ? [[name, Number.parseInt(name, 10)]] : [],
    )
  } catch {
    // The folder does not exist yet.
    return []
  }
}
