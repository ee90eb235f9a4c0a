import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '@sallyport/core'
import { makeSecret } from '#files'

const KEY_BYTES = 32
const PREFIX = 'address-key-'

/**
 * The key of a day (UTC); `at` is in milliseconds since the epoch. It is in one file of `folder`, which goes when the
 * first request of another day is written down. Without a folder that can be written it is in memory alone.
 */
export function dailyKey(folder: string | undefined): (at: number) => Buffer {
  let current: { readonly day: number; readonly key: Buffer } | undefined
  return (at) => {
    const day = Math.floor(at / DAY_MS)
    // A request that began before midnight may end after it: its key is gone.
    if (current === undefined || day > current.day) current = { day, key: readKey(day, folder) }
    return current.key
  }
}

function readKey(day: number, folder: string | undefined): Buffer {
  if (folder === undefined) return randomBytes(KEY_BYTES)
  const name = `${PREFIX}${new Date(day * DAY_MS).toISOString().slice(0, 10)}`
  try {
    makeSecret(join(folder, name), randomBytes(KEY_BYTES))
    for (const other of readdirSync(folder)) {
      if (other.startsWith(PREFIX) && other < name) rmSync(join(folder, other), { force: true })
    }
    return readFileSync(join(folder, name))
  } catch {
    return randomBytes(KEY_BYTES)
  }
}
