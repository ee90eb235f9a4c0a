import type { Dns, Fetch, Port43 } from '@sallyport/core'
import type { Connect } from './dial.ts'

/** Every way out, closed: each question fails with `reason`, and nothing is sent. */
export function createClosed(reason: string): Dns & Fetch & Port43 & { readonly connect: Connect } {
  const failed = async () => ({ state: 'failed', reason }) as const
  const connect = async () => {
    throw new Error(reason)
  }
  return { resolve: failed, resolvePtr: failed, fetch: failed, ask: failed, connect }
}
