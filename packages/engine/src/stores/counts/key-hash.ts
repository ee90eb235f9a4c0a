import { createHmac } from 'node:crypto'

/** Returns a keyed hash of what a count is of, so that what leaves the process names no client. 132 bits. */
export function hashKey(secret: string, key: string): string {
  return createHmac('sha256', secret).update(key).digest('base64url').slice(0, 22)
}
