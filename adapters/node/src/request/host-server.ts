import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** On a server: its upgrades are inspected. Known to every copy of this package in a process. */
const GUARDED = Symbol.for('sallyport.upgrades-guarded')
/** On a server: what is to be said of it was said. */
const LOOKED_AT = Symbol.for('sallyport.looked-at')

type Marked = Partial<Record<typeof GUARDED | typeof LOOKED_AT, true>>

/** The server that a request came to. One that was made for a test, or by an adapter for functions, has none. */
export function serverOf(req: IncomingMessage): Server | undefined {
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket: (Socket & { readonly server?: Server | null | undefined }) | null | undefined = req.socket
  return socket?.server ?? undefined
}

/** Notes that the upgrades of a server are inspected. */
export function markGuarded(server: object): void {
  ;(server as Marked)[GUARDED] = true
}

/**
 * Looks at a server once, at its first request: upgrade listeners that no guard stands before, and clocks that leave a
 * slow client its connection for ever, are a process warning each.
 */
export function lookAtServer(server: (Server & Marked) | undefined): void {
  if (server === undefined || server[LOOKED_AT]) return
  server[LOOKED_AT] = true
  if (server.listenerCount('upgrade') > 0 && !server[GUARDED]) {
    process.emitWarning(UNGUARDED, { type: 'SallyportWarning', code: 'SALLYPORT_UPGRADES_UNGUARDED' })
  }
  const weak = weakClocks(server)
  if (weak.length === 0) return
  const message = `${weak.join(', ')} on the server: slow clients can hold their connections. ${CLOCKS}`
  process.emitWarning(message, { type: 'SallyportWarning', code: 'SALLYPORT_WEAK_CLOCKS' })
}

const UNGUARDED =
  'The server has an upgrade listener, and upgrades run no middleware: they are not inspected. ' +
  'Call guardUpgrade(server, sallyport).'
const CLOCKS = 'Set server.headersTimeout, requestTimeout and keepAliveTimeout, in milliseconds.'

/** Node's own default; the clock of the proxy is 10 s. */
const MAX_HEADERS_MS = 60_000

/** A clock that is absent, as on a server that speaks HTTP/2 alone, is none of these. */
function weakClocks(server: Server): readonly string[] {
  const off = (['headersTimeout', 'requestTimeout', 'keepAliveTimeout'] as const).filter((name) => server[name] === 0)
  const weak = off.map((name) => `${name} is off`)
  if (server.headersTimeout > MAX_HEADERS_MS) weak.push(`headersTimeout is over ${MAX_HEADERS_MS / 1000} s`)
  return weak
}
