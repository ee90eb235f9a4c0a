import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Timeouts } from '@sallyport/engine/limits'
import type { OpenConnections } from '../edge/connection-limits.ts'
import type { Http2Sessions } from '../edge/http2-sessions.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Roster } from '../exchange/roster.ts'

/** Holds everything open on a listener that closes. */
export interface Open {
  /** Servers that accept connections. */
  readonly fronts: readonly NetServer[]
  readonly connections: OpenConnections
  readonly http1: Server
  readonly http2: Http2Sessions | undefined
  /** Holds the requests in flight. */
  readonly exchanges: Roster<Exchange>
  readonly tunnels: ReadonlySet<Exchange>
}

/** Closes a listener without resetting any client; cuts what takes longer than `timeouts.drain`. */
export async function drain(open: Open, timeouts: Timeouts, idle: 'wait' | 'cut'): Promise<void> {
  const { fronts, connections, http1, http2, exchanges, tunnels } = open
  for (const { response } of exchanges.all()) if (!response.headersSent) response.shouldKeepAlive = false
  http2?.announceEnd()
  if (timeouts.lameDuck > 0) await delay(timeouts.lameDuck)
  const listening = fronts.filter((front) => front.listening)
  const closed = Promise.all(listening.map((front) => once(front, 'close')))
  for (const front of listening) front.close()
  for (const { endTunnel, upgrade } of tunnels) (endTunnel ?? (() => upgrade?.socket.destroy()))()
  http2?.end()
  if (idle === 'cut') cutIdle(open)
  const late = setTimeout(connections.cutAll, timeouts.drain)
  await closed
  clearTimeout(late)
  // This ends the server's clocks; it has no connection any more.
  http1.close()
}

function cutIdle({ http1, exchanges, connections }: Open): void {
  http1.closeIdleConnections()
  // A connection becomes idle after its response has closed.
  const cut = () => setImmediate(() => http1.closeIdleConnections())
  for (const { response } of exchanges.all()) response.once('close', cut)
  // Node does not call a connection idle before its first request.
  if (exchanges.size === 0) connections.cutAll()
}
