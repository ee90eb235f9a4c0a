import type { CompiledStrikes } from '../counting/strikes.ts'
import { durationOf } from './compile-counting.ts'
import type { Strikes } from './policy.ts'

/** Every member has been checked. */
export function compileStrikes({ key = 'client', count, window, on, for: length }: Strikes): CompiledStrikes {
  const statuses = on.filter((word) => word.startsWith('status:'))
  return {
    ...{ key, count, forMs: durationOf(length) },
    // The strike that no longer fits bans.
    limit: { kind: 'sliding', max: count - 1, windowMs: durationOf(window), refill: count },
    actions: new Set(on.filter((word) => !statuses.includes(word))),
    statuses: new Set(statuses.map((word) => Number(word.slice('status:'.length)))),
  }
}
