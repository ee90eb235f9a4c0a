import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Marks a server whose upgrades are inspected. Every copy of this package in a process knows the symbol. */
const GUARDED = Symbol.for('sallyport.upgrades-guarded')
/** Marks a server that was checked for warnings. */
const LOOKED_AT = Symbol.for('sallyport.looked-at')

type Marked = Partial<Record<typeof GUARDED | typeof LOOKED_AT, true>>

/** Finds the server that received a request. A request of a test, or of an adapter for functions, has no server. */
export function findServer(req: IncomingMessage): Server | undefined {
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket: (Socket & { readonly server?: Server | null | undefined }) | null | undefined = req.socket
  return socket?.server ?? undefined
}

/** Records that the upgrades of a server are inspected. */
export function markGuarded(server: object): void {
  ;(server as Marked)[GUARDED] = true
}

/** Warns, at the first request of a server, of upgrade listeners without a guard, and of timeouts that let a slow client stay for ever. */
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

/** Node's own default is the same; the proxy has 10 s. */
const MAX_HEADERS_MS = 60_000

/** Lists weak timeouts. A timeout that does not exist, as on an HTTP/2 server, is not weak. */
function weakClocks(server: Server): readonly string[] {
  const off = (['headersTimeout', 'requestTimeout', 'keepAliveTimeout'] as const).filter((name) => server[name] === 0)
  const weak = off.map((name) => `${name} is off`)
  if (server.headersTimeout > MAX_HEADERS_MS) weak.push(`headersTimeout is over ${MAX_HEADERS_MS / 1000} s`)
  return weak
}
