import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Address, formatAddress, parseAddress, sameAddress } from '@sallyport/core'
import { openDeadline } from './deadline.ts'
import { type CheckedHost, createGuard, type GuardOptions } from './guard.ts'

/**
 * Opens a TCP connection to an address that the guard checked, and to no other: the addresses are handed to the socket,
 * so nothing is resolved a second time, and the connected peer is compared with them. Several addresses are tried as
 * Node does it (RFC 8305). The socket is destroyed when the signal aborts. Rejects with the reason.
 */
export async function dial({ host, addresses }: CheckedHost, port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const socket = connect({
    // A name, whatever was asked for: only then is `lookup` called, and never the resolver of the system.
    host: 'checked.invalid',
    port,
    signal,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, addresses.map(lookedUp)),
  })
  try {
    await once(socket, 'connect', { signal })
  } catch (error) {
    socket.destroy()
    throw signal.aborted ? signal.reason : error
  }
  // Reads and writes report errors; without a listener an error event would end the process.
  socket.on('error', () => undefined)
  const peer = parseAddress(socket.remoteAddress ?? '')
  if (peer !== undefined && addresses.some((address) => sameAddress(address, peer))) return socket
  socket.destroy()
  throw new Error(`${host}: the connection has an address that was not checked`)
}

function lookedUp(address: Address) {
  return { address: formatAddress(address), family: address.family }
}

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
