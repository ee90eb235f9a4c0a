import { createHmac } from 'node:crypto'

/** A keyed hash of what a count is of: what leaves the process names nobody. 132 bits. */
export function hashKey(secret: string, key: string): string {
  return createHmac('sha256', secret).update(key).digest('base64url').slice(0, 22)
}
