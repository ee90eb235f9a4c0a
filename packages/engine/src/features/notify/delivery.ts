import { setTimeout as delay } from 'node:timers/promises'
import { type Fetch, fetchText } from '@sallyport/core'
import { hookRequest } from './forms.ts'
import type { Message } from './message.ts'
import type { Target } from './target.ts'

/** Messages that wait for one place; the oldest is dropped for a new one. */
const MAX_WAITING = 50

/** The sender waits so long before each retry. */
export const PAUSES_MS: readonly number[] = [2_000, 15_000, 90_000]
/** Longest pause that a server may request. */
const MAX_PAUSE_MS = 600_000

/** States the result of one attempt. */
export type Sent =
  | { readonly state: 'sent'; readonly answer: string }
  | {
      readonly state: 'failed'
      readonly reason: string
      readonly again: boolean
      readonly afterMs?: number | undefined
    }

export interface SendPorts {
  readonly fetch: Fetch
  /** Returns milliseconds since the epoch. */
  readonly now: () => number
}

/** Sends a message once. Never rejects. */
export async function sendOnce(target: Target, message: Message, { fetch, now }: SendPorts): Promise<Sent> {
  const answer = await fetchText(fetch, hookRequest(target, message, now()))
  if (answer.state === 'failed') return { state: 'failed', reason: answer.reason, again: true }
  const { status, headers, body } = answer
  if (status >= 200 && status < 300) return { state: 'sent', answer: String(status) }
  const [said = ''] = body.trim().split(/\r?\n/, 1)
  const reason = `the response is ${status}${said === '' || said.startsWith('<') ? '' : `: ${said.slice(0, 200)}`}`
  return {
    state: 'failed',
    reason,
    again: status === 429 || status >= 500,
    afterMs: parseSeconds(headers['retry-after']),
  }
}

function parseSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) * 1_000 : undefined
}

export interface DeliveryHooks {
  onSent(message: Message): void
  /** Called when all attempts failed; `reason` contains no secret. */
  onFailed(message: Message, reason: string): void
  /** Called when a later message displaced the message, or its place was removed. */
  onDropped(message: Message): void
}

/** Delivers messages to one place, one after the other. */
export type Delivery = ReturnType<typeof openDelivery>

export function openDelivery(
  target: Target,
  ports: SendPorts & { readonly pausesMs?: readonly number[] | undefined },
  hooks: DeliveryHooks,
) {
  const { pausesMs = PAUSES_MS } = ports
  const waiting: Message[] = []
  const closing = new AbortController()
  const { signal } = closing
  let working: Promise<void> | undefined

  async function deliver(message: Message): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const sent = await sendOnce(target, message, ports)
      if (sent.state === 'sent') return hooks.onSent(message)
      const pause = sent.again ? pausesMs[attempt] : undefined
      if (pause === undefined || signal.aborted) return hooks.onFailed(message, sent.reason)
      try {
        await delay(Math.min(Math.max(pause, sent.afterMs ?? 0), MAX_PAUSE_MS), undefined, { signal, ref: false })
      } catch {
        return hooks.onFailed(message, sent.reason)
      }
    }
  }
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) await deliver(next)
    working = undefined
  }

  return {
    target,
    put(message: Message): void {
      if (signal.aborted) return
      waiting.push(message)
      const dropped = waiting.length > MAX_WAITING ? waiting.shift() : undefined
      if (dropped !== undefined) hooks.onDropped(dropped)
      working ??= work()
    },
    /** Starts no further attempt, and waits at most `waitMs` for a current one. */
    async close(waitMs: number): Promise<void> {
      closing.abort()
      for (const message of waiting.splice(0)) hooks.onDropped(message)
      const late = new AbortController()
      await Promise.race([working, delay(waitMs, undefined, { signal: late.signal, ref: false }).catch(() => {})])
      late.abort()
    },
  }
}
