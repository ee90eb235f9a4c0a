import type { Dns, Fetch, Port43 } from '@sallyport/core'

/** Every way out, closed: each question fails with `reason`, and nothing is sent. */
export function createClosed(reason: string): Dns & Fetch & Port43 {
  const failed = async () => ({ state: 'failed', reason }) as const
  return { resolve: failed, resolvePtr: failed, fetch: failed, ask: failed }
}
