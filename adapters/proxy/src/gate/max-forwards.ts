import { isNamed } from '@sallyport/core'
import type { ClientRequest } from '../edge/client-messages.ts'

const NAME = 'max-forwards'

/** Returns how often an OPTIONS may still be forwarded (RFC 9110 7.6.2); `undefined` where the request gives no number. */
export function forwardsLeft({ method, headers }: ClientRequest): number | undefined {
  const value = method === 'OPTIONS' ? headers[NAME] : undefined
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Writes into fields (name, value, name, value …) how many forwards are left. */
export function withForwards(fields: readonly string[], left: number): string[] {
  return fields.map((text, at) => (at % 2 === 1 && isNamed(fields[at - 1] as string, NAME) ? String(left) : text))
}
