import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { isEmpty } from '../fields/response-fields.ts'
import { connectorTo, type OriginTrust } from './address.ts'
import type { Member } from './members.ts'

/** Says how the servers of an origin are checked; times are in milliseconds. */
export interface HealthOptions {
  readonly path: string
  /** Pause until a server is checked again; absent: 10 seconds. */
  readonly interval?: number | undefined
  /** Limits the whole answer to a check; absent: 2 seconds. */
  readonly timeout?: number | undefined
}

/** Limits the bytes of a body that are read. */
const MAX_BODY_BYTES = 131_072
/** A server is down after so many failed checks in a row. */
const FAILURES = 2

/** Requests `path` from each server at intervals: any answer below 400 is good. The returned function stops. */
export function startHealthChecks(
  members: readonly Member[],
  { path, interval = 10_000, timeout = 2_000 }: HealthOptions,
  trust: OriginTrust,
  headBytes: number,
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
      // The time limits the whole answer: otherwise an endless answer would block all later checks.
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
    // undici fails of an answer that gives a length and ends with its head.
    await (isEmpty(statusCode) ? read.catch(() => {}) : read)
    return statusCode < 400
  } catch {
    return false
  }
}
