import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Timeouts } from '@sallyport/open/limits'
import type { Exchange } from './exchange.ts'
import type { Roster } from './roster.ts'

/** What is open on a listener that closes. */
export interface Open {
  readonly server: Server
  /** Requests in flight. */
  readonly exchanges: Roster<Exchange>
  readonly tunnels: ReadonlySet<Exchange>
}

/** Closes a listener and resets nobody; what takes longer than `timeouts.drain` is cut. */
export async function drain(open: Open, timeouts: Timeouts, idle: 'wait' | 'cut'): Promise<void> {
  const { server, exchanges, tunnels } = open
  for (const { response } of exchanges.all()) if (!response.headersSent) response.shouldKeepAlive = false
  if (timeouts.lameDuck > 0) await delay(timeouts.lameDuck)
  const closed = once(server, 'close')
  // That of an HTTP server also cuts idle connections, on which a client may just have sent a request.
  Reflect.apply(NetServer.prototype.close, server, [])
  for (const { endTunnel, upgrade } of tunnels) (endTunnel ?? (() => upgrade?.socket.destroy()))()
  if (idle === 'cut') cutIdle(open)
  const late = setTimeout(() => {
    for (const { upgrade } of tunnels) upgrade?.socket.destroy()
    server.closeAllConnections()
  }, timeouts.drain)
  await closed
  clearTimeout(late)
}

function cutIdle({ server, exchanges }: Open): void {
  server.closeIdleConnections()
  // A connection becomes idle after its response has closed.
  for (const exchange of exchanges.all()) exchange.onEnd(() => setImmediate(() => server.closeIdleConnections()))
  // One on which nothing was asked yet is not idle to Node.
  if (exchanges.size === 0) server.closeAllConnections()
}
