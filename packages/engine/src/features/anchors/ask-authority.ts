import { randomBytes } from 'node:crypto'
import { errorText, type Fetch, fetchBytes } from '@sallyport/core'
import type { Timestamps } from '@sallyport/ledger/timestamp'
import { readWhole } from '#files'
import type { AnchorConfig } from './keys.ts'

/** An authority or witness has no more than this for its answer: nothing waits for it. */
const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024
/** A time that is further from the clock of this machine is refused: one of both is wrong. */
const MAX_APART_MS = 3_600_000

/** The answer of an authority, or the line of a witness, as it came, or why it does not count; `unknown`: a witness does not know the log. */
export type Answer =
  | { readonly state: 'stamped'; readonly response: Uint8Array; readonly time: string; readonly signer: string }
  | { readonly state: 'refused' | 'failed' | 'unknown'; readonly reason: string }

/** `AskPorts` has what sends a request, the clock in milliseconds since the epoch, and what ends it earlier. */
export interface AskPorts {
  readonly fetch: Fetch
  now(): number
  readonly signal?: AbortSignal | undefined
}

/** Opens the reader of timestamps with the certificates of the configuration. Rejects with an error that says what is missing. */
export async function openReader({ ledger }: Pick<AnchorConfig, 'ledger'>): Promise<Timestamps> {
  const { openTimestamps } = await import('@sallyport/ledger/timestamp')
  const { timestampCa } = ledger
  if (timestampCa === undefined) return openTimestamps()
  try {
    return await openTimestamps(readWhole(timestampCa))
  } catch (error) {
    const isPackage = error instanceof Error && error.name === 'LibraryMissing'
    throw isPackage ? error : new Error(`ledger.timestampCa: ${timestampCa} ${errorText(error)}`)
  }
}

/** Posts to an authority or a witness; its answer is signed, so http will do. Never rejects. */
export function post(
  url: string,
  body: { readonly type: string; readonly bytes: Uint8Array },
  ports: AskPorts,
): ReturnType<typeof fetchBytes> {
  const { fetch, signal } = ports
  return fetchBytes(fetch, { url, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, allowHttp: true, signal })
}

/** Asks an authority for a timestamp (RFC 3161 3.4) and checks all of its answer. Never rejects. */
export async function askAuthority(
  url: string,
  data: Uint8Array,
  reader: Timestamps,
  ports: AskPorts,
): Promise<Answer> {
  const { bytes, nonce } = reader.query(data, randomBytes(8))
  const answer = await post(url, { type: 'application/timestamp-query', bytes }, ports)
  if (answer.state === 'failed') return answer
  if (answer.status !== 200) return { state: 'failed', reason: `it responded with status ${answer.status}` }
  const found = await reader.read(answer.body, data, nonce)
  if (found.state === 'bad') return { state: 'refused', reason: found.reason }
  if (found.state === 'untrusted') {
    return { state: 'refused', reason: `${found.signer} is not certified by ledger.timestampCa` }
  }
  const fault = findTimeFault(found.time, ports.now())
  if (fault !== undefined) return { state: 'refused', reason: fault }
  return { state: 'stamped', response: answer.body, time: found.time, signer: found.signer }
}

/** Says why a time does not count; `undefined` where it does. */
export function findTimeFault(time: string, now: number): string | undefined {
  const isNear = Math.abs(Date.parse(time) - now) <= MAX_APART_MS
  return isNear ? undefined : `its time is ${time}, which is far from the clock of this machine`
}

/** Names an authority in records: by its URL without the query, which may hold a key. */
export function nameAuthority(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** Names a witness as its verifier key does. */
export function nameWitness(vkey: string): string {
  return vkey.split('+', 1)[0] as string
}
