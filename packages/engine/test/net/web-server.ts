import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listening } from '#stores/testing'

/** A web server on loopback that counts its connections and remembers what it was asked. */
export async function openWebServer(t: Test, listener: RequestListener, host = '127.0.0.1', tls?: ServerOptions) {
  const asked: IncomingMessage[] = []
  const answer: RequestListener = (request, response) => {
    asked.push(request)
    listener(request, response)
  }
  const server: Server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer)
  let connections = 0
  server.on('connection', () => {
    connections++
  })
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    asked,
    connections: () => connections,
    /** Resolves when no client is connected any more. */
    async idle() {
      for (;;) {
        const open = await new Promise<number>((resolve, reject) => {
          server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
        })
        if (open === 0) return
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/** Opens a server of bytes on loopback that hands each connection to a function; returns its port. */
export async function openTcpServer(t: Test, onConnection: (socket: Socket) => unknown): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  const port = await listening(t, server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return port
}
