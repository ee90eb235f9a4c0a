import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '@sallyport/core'
import { makeFolder } from '@sallyport/engine/files'

const FOLDER = 'console-ended'
/** They are kept longer than they would have lasted, for clocks that go back. */
const KEPT_MS = DAY_MS
/** Those that would have ended are dropped once there are so many. */
const MANY = 1_000

/** Sessions and links that were ended before their time, by their nonces; times in milliseconds since the epoch. */
export interface Ended {
  has(nonce: string, until: number): boolean
  /** Ends one, which would have lasted until then; false where it was ended already. */
  add(nonce: string, until: number, now: number): boolean
}

/**
 * Each is an empty file in `<dataDir>/console-ended`, so that it stays ended after a restart, and in every process, also
 * one that was starting; of several one alone ends it. A folder that cannot be written calls `onFault` once, and the
 * memory of this process is all there is; so it is without a dataDir.
 */
export function openEnded(dataDir: string | undefined, onFault: (error: unknown) => void, now = Date.now()): Ended {
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
    has(nonce, until) {
      const name = nameFile(nonce, until)
      return known.has(name) || (folder !== undefined && existsSync(join(folder, name)))
    },
    add(nonce, until, now) {
      const name = nameFile(nonce, until)
      if (known.has(name)) return false
      if (known.size >= MANY) drop(now)
      known.set(name, until)
      return write(name)
    },
  }
}

/** Its time first, so that nothing has to be read to know which can go. */
function nameFile(nonce: string, until: number): string {
  return `${until}.${nonce}`
}

function endedIn(folder: string): readonly (readonly [name: string, until: number])[] {
  try {
    return readdirSync(folder).flatMap((name) =>
      /^\d{1,16}\.[\w-]{16}$/.test(name) ? [[name, Number.parseInt(name, 10)]] : [],
    )
  } catch {
    // There is none yet.
    return []
  }
}
