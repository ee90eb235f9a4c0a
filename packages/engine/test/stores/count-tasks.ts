import type { CountTask, Taken } from '@sallyport/core'

export type Kind = 'sliding' | 'fixed' | 'bucket'

export function task(
  kind: Kind,
  max: number,
  windowMs: number,
  more: Partial<CountTask> & { refill?: number | undefined } = {},
): CountTask {
  const { refill = max, ...rest } = more
  return { key: `rule ${kind} a`, cost: 1, max, binding: true, limit: { kind, max, windowMs, refill }, ...rest }
}

export const FLIGHT: CountTask = { key: 'rule flights', cost: 1, max: 2, binding: true }

/** `3` for the third that is counted, `3!` for one that no longer fits. */
export function listUsed({ states }: Taken): readonly string[] {
  return states.map(({ allowed, used }) => `${used}${allowed ? '' : '!'}`)
}
