// WebSockets of ws and of socket.io behind one guard. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardUpgrade, listener, open, v1 } from '@sallyport/node'
import { Server } from 'socket.io'
import { WebSocketServer } from 'ws'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const site = v1(sallyport, (req, res) => {
  const { action, inspection } = req.sallyport ?? {}
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ action, networkClass: inspection?.network.verdict.classification }))
})
const server = createServer(listener(sallyport, site))
// Before or after the libraries: a blocked upgrade reaches neither.
guardUpgrade(server, sallyport)

const rooms = new Server(server, { serveClient: false, destroyUpgrade: false })
rooms.on('connection', (socket) => {
  socket.emit('verdict', socket.handshake.headers['sallyport-action'])
})

const sockets = new WebSocketServer({ noServer: true })
server.on('upgrade', (request, socket, head) => {
  if (request.url !== '/ws') return
  sockets.handleUpgrade(request, socket, head, (client) => client.send(`${request.headers['sallyport-action']}`))
})

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
