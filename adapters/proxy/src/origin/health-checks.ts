import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { isEmpty } from '../fields/response-fields.ts'
import type { Member } from './members.ts'
import { connectorTo, type OriginTrust } from './trust.ts'

/** How an origin is connected to. */
interface Connecting {
  readonly trust: OriginTrust
  readonly headBytes: number
}

/** Says how the servers of an origin are checked; times are in milliseconds. */
export interface HealthOptions {
  readonly path: string
  /** A server is checked again after it; absent: 10 seconds. */
  readonly interval?: number | undefined
  /** The whole answer to a check is read within it; absent: 2 seconds. */
  readonly timeout?: number | undefined
}

/** Bytes of a body that are read. */
const MAX_BODY_BYTES = 131_072
/** So many checks in a row must fail. */
const FAILURES = 2

/** Asks each server for `path` now and then: any answer below 400 is a good one. The returned function stops. */
export function startHealthChecks(
  members: readonly Member[],
  { path, interval = 10_000, timeout = 2_000 }: HealthOptions,
  { trust, headBytes }: Connecting,
): () => void {
  const ended = new AbortController()
  const { signal } = ended
  const watch = async (member: Member): Promise<void> => {
    const { address } = member
    const client = new Client(address.url, {
      connect: connectorTo(address, timeout, trust),
      maxHeaderSize: headBytes,
    })
    signal.addEventListener('abort', () => void client.destroy(), { once: true })
    let failures = 0
    while (!signal.aborted) {
      // For the whole of an answer: one that never ends would be the last that is asked for.
      const healthy = await answers(client, path, AbortSignal.timeout(timeout))
      if (signal.aborted) break
      failures = healthy ? 0 : failures + 1
      if (healthy || failures >= FAILURES) member.checked(healthy)
      await delay(interval, undefined, { signal, ref: false }).catch(() => {})
    }
  }
  for (const member of members) void watch(member)
  return () => ended.abort()
}

async function answers(client: Client, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { statusCode, body } = await client.request({
      method: 'GET',
      path,
      signal,
      headers: { 'user-agent': 'sallyport' },
    })
    const read = body.dump({ limit: MAX_BODY_BYTES, signal })
    // undici fails of one that gives a length and ends with its head.
    await (isEmpty(statusCode) ? read.catch(() => {}) : read)
    return statusCode < 400
  } catch {
    return false
  }
}
