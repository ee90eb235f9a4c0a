import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data')

/** Returns the reason to skip a test whose shared data is missing. */
export const skipWithout = (path: string): string | false =>
  existsSync(join(SHARED, path)) ? false : `no shared data at ${join(SHARED, path)}`

/** Reads a file of the shared data, compressed or not. */
export function readShared(path: string): string {
  const bytes = readFileSync(join(SHARED, path))
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
}

/** Splits a text at white space, so that a long list of short texts needs few lines. */
export const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/)
