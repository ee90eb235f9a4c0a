import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A front on loopback that tells the proxy behind it of another client, by the PROXY protocol: programs of this machine
 * are then judged as visitors from that address, or each connection from an address that a function gives.
 */
export interface Relay {
  readonly port: number
  close(): Promise<void>
}

export async function openRelay(url: string, address: string | (() => string)): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const proxy = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
    const from = typeof address === 'string' ? address : address()
    proxy.write(`PROXY TCP4 ${from} 127.0.0.1 ${client.remotePort} 443\r\n`)
    for (const [one, other] of [
      [client, proxy],
      [proxy, client],
    ] as const) {
      sockets.add(one)
      one.setNoDelay()
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroySoon()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
