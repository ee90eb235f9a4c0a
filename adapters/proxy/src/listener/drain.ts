import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Timeouts } from '@sallyport/engine/limits'
import type { Edge } from '../edge/edge.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Roster } from '../exchange/roster.ts'

/** Holds everything open on a listener that closes. */
interface Open {
  readonly edge: Edge
  readonly http1: Server
  /** Holds the requests in flight. */
  readonly requests: Roster<Exchange>
  readonly tunnels: ReadonlySet<Exchange>
}

/** Closes a listener without resetting any client; cuts what takes longer than `timeouts.drain`. */
export async function drain(open: Open, timeouts: Timeouts, idle: 'wait' | 'cut'): Promise<void> {
  const { edge, http1, requests, tunnels } = open
  const { main, plain, connections, http2 } = edge
  for (const { response } of requests.all()) if (!response.headersSent) response.shouldKeepAlive = false
  http2?.announceEnd()
  if (timeouts.lameDuck > 0) await delay(timeouts.lameDuck)
  const listening = [main, plain].filter((front) => front.listening)
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

function cutIdle({ http1, requests, edge }: Open): void {
  http1.closeIdleConnections()
  // A connection becomes idle after its response has closed.
  const cut = () => setImmediate(() => http1.closeIdleConnections())
  for (const { response } of requests.all()) response.once('close', cut)
  // Node does not call a connection idle before its first request.
  if (requests.size === 0) edge.connections.cutAll()
}
