import type { IncomingMessage } from 'node:http'
import { foldedName } from '@sallyport/node/internal'
import { CLIENT_FIELDS } from './fields/client-fields.ts'

/** Paths that a configuration may open to every client of the listener. */
export type AdminOpen = 'metrics' | 'sources' | 'readyz'

/** Names a role: `read` may look, `admin` may also change what the service does. */
export type AdminRole = 'read' | 'admin'

/** Reports whether a path, or `open`, asks for no token. Loopback alone proves nothing: a local proxy forwards the whole world. */
export function isOpenPath(path: string, request: IncomingMessage, open: readonly AdminOpen[]): boolean {
  if (path === '/healthz' || (path === '/readyz' && isBalancersCheck(request))) return true
  return open.some((name) => path === `/${name}`) || (!path.startsWith('/bans') && isFromThisMachine(request))
}

/** Fields that proxies add, and that programs on this machine do not send. */
const SIGNS = new Set([...CLIENT_FIELDS, 'via', 'x-forwarded-prefix', 'x-forwarded-ssl', 'x-scheme'])

/** Reports whether a local HAProxy checks (`option httpchk`): by HTTP/1.0 without Host, which no proxy sends for others by default. */
function isBalancersCheck({ socket, headers, httpVersion }: IncomingMessage): boolean {
  if (!isLoopback(socket.remoteAddress) || !isLoopback(socket.localAddress) || httpVersion !== '1.0') return false
  return headers.host === undefined && !hasSign(headers)
}

/**
 * Reports whether a request comes from this machine, as far as it shows: over loopback, under a name of this machine, which a foreign page
 * does not have (DNS rebinding), and without a sign of a proxy that others reach. HTTP/1.0 is such a sign: nginx's `proxy_pass` uses it by
 * default. A page of another site in a local browser is foreign too. A proxy without any sign looks like a local program.
 */
function isFromThisMachine({ socket, headers, httpVersion }: IncomingMessage): boolean {
  if (!isLoopback(socket.remoteAddress) || !isLoopback(socket.localAddress) || httpVersion === '1.0') return false
  const site = headers['sec-fetch-site'] ?? 'none'
  if (headers.origin !== undefined || (site !== 'none' && site !== 'same-origin')) return false
  if (hasSign(headers)) return false
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(headers.host ?? '')
}

function hasSign(headers: IncomingMessage['headers']): boolean {
  return Object.keys(headers).some((name) => SIGNS.has(foldedName(name)))
}

function isLoopback(address = ''): boolean {
  return /^(?:::ffff:)?127\./.test(address) || address === '::1'
}
