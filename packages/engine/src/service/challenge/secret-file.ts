import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSecret } from '#files'

const NAME = 'challenge-secret'
const BYTES = 32

/** The secret of a dataDir, which the processes on it share; made by the first of them. */
export function keepSecret(dataDir: string): string {
  const file = join(dataDir, NAME)
  const read = () => readFileSync(file, 'utf8').trim()
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  makeSecret(file, `${randomBytes(BYTES).toString('base64url')}\n`)
  return read()
}
