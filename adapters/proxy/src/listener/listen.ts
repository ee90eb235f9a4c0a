import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { errorCode, SallyportError } from '@sallyport/core'
import { connectionReason } from '@sallyport/engine/files'

/**
 * Makes a server listen on `host:port`, with an IPv6 host in brackets; port 0 takes a free port. Resolves to the address with the actual
 * port. Rejects with `cannot_listen` and the reason, or with `invalid_config` for a malformed address.
 */
export async function bind(server: NetServer, address: string): Promise<string> {
  const [, bracketed, plain, port = ''] = /^(?:\[(.+)\]|([^[\]:\s]+)):(\d{1,5})$/.exec(address) ?? []
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    throw new SallyportError('invalid_config', `"${address}" is not a listen address. Use host:port`)
  }
  server.listen({ host, port: Number(port) })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new SallyportError('cannot_listen', `cannot listen on ${address}: ${findReason(error)}`)
  }
  const taken = server.address()
  const actual = typeof taken === 'object' && taken !== null ? taken.port : port
  return `${bracketed === undefined ? host : `[${host}]`}:${actual}`
}

/** Makes an HTTP server listen, as `bind` does; `close()` cuts open connections. */
export async function listenOn(server: Server, address: string) {
  return {
    /** `http://host:port`, with the actual port where 0 was requested. */
    url: `http://${await bind(server, address)}`,
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there. Stop the program, or use another address',
  EACCES: 'this user lacks the permission',
  EADDRNOTAVAIL: 'this machine has no such address',
}

function findReason(error: unknown): string {
  const code = errorCode(error)
  return REASONS[code] ?? connectionReason(error) ?? code
}
