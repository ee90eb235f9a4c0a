import type { Socket } from 'node:net'
import { openDeadline } from './deadline.ts'
import { dial } from './dial.ts'
import { createGuard, type GuardOptions } from './guard.ts'

/** Connects to a host (a name, or an address without brackets) within so many milliseconds; rejects with the reason. */
export type Connect = (host: string, port: number, timeoutMs: number) => Promise<Socket>

/** TCP to public addresses alone, through the same guard as HTTP. Throws `invalid_config` for an `allowPrivate` that is not usable. */
export function createConnect(options: GuardOptions): Connect {
  const guard = createGuard(options)
  return async (host, port, timeoutMs) => {
    const deadline = openDeadline(timeoutMs)
    try {
      const checked = await deadline.race(guard(host))
      return await dial(checked, port, deadline.signal)
    } finally {
      deadline.clear()
    }
  }
}
