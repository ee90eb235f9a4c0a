import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from './child.ts'
import type { Scene } from './scene.ts'
import { startVisitors, type Traffic } from './visitors.ts'
import { portOf } from './wire.ts'

/** The sockets of an attacker. */
export interface Held {
  readonly open: number
  /** Connections that were ended by the other side so far. */
  readonly cut: number
}

/** Sockets of one kind, from one address. */
export interface Crowd {
  readonly kind: string
  readonly count: number
  /** Milliseconds until one that was cut comes again. */
  readonly reopenMs: number
  /** Until they are all there. */
  readonly rampMs: number
}

export interface Outcome {
  readonly before: Traffic
  readonly during: Traffic
  readonly held: Held
  /** How much of what the visitors had before they have now. */
  readonly share: number
}

const WARM_UP_MS = 3_000
const BEFORE_MS = 5_000
/** Visitors keep so much. */
export const MIN_SHARE = 0.9

/** Service of good visitors before a crowd is there, and while it is. */
export async function sufferCrowd({ proxy, cleanup }: Scene, crowd: Crowd, duringMs: number): Promise<Outcome> {
  const visitors = startVisitors(proxy.url)
  cleanup.teardown(() => visitors.stop())
  await delay(WARM_UP_MS)
  visitors.take()
  await delay(BEFORE_MS)
  const before = visitors.take()
  const { kind, count, reopenMs, rampMs } = crowd
  const attackers = await startChild<string, Held>('attackers.js', portOf(proxy.url), kind, count, reopenMs)
  cleanup.teardown(() => attackers.stop())
  await delay(rampMs)
  visitors.take()
  await delay(duringMs)
  const during = visitors.take()
  return { before, during, held: await attackers.ask(), share: during.perSecond / before.perSecond }
}

export function rowOf({ before, during, held, share }: Outcome): object {
  return {
    'answers/s before': Math.round(before.perSecond),
    'answers/s during': Math.round(during.perSecond),
    kept: `${(share * 100).toFixed(1)} %`,
    'p99 ms': Math.round(during.p99),
    'sockets open': held.open,
    cut: held.cut,
    failures: failureText(during),
  }
}

export function failureText({ failures }: Traffic): string {
  return Object.entries(failures)
    .map(([failure, times]) => `${failure} ×${times}`)
    .join(', ')
}
