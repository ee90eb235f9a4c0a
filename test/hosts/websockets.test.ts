import { once } from 'node:events'
import { createServer } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import type { Decider } from '@sallyport/node'
import { guardUpgrade, listener } from '@sallyport/node'
import { Server } from 'socket.io'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { madeScene } from './scene.ts'

/* The WebSocket libraries that people use take their upgrades from the server, and a guard stands before both. */
const { allowed, blocked, enforcing } = madeScene()
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

async function startServer(t: Test, sallyport: Decider) {
  const server = createServer(listener(sallyport, (_req, res) => res.end('page')))
  guardUpgrade(server, sallyport)
  const actions: unknown[] = []
  return { server, port: await listening(t, server), actions }
}

/** This Sallyport delays each count, as a store does. */
const waiting: Decider = {
  ...enforcing,
  count: async (decision) => {
    await new Promise((resolve) => setImmediate(resolve))
    return { decision }
  },
}

for (const [name, sallyport] of Object.entries({ 'at once': enforcing, 'after a store': waiting })) {
  t.test(`ws, decided ${name}`, async (t) => {
    const { server, port, actions } = await startServer(t, sallyport)
    const sockets = new WebSocketServer({ server })
    t.teardown(() => sockets.close())
    sockets.on('connection', (socket, request) => {
      actions.push(request.headers['sallyport-action'])
      socket.on('message', (text) => socket.send(`echo ${text}`))
    })
    const client = new WebSocket(`ws://127.0.0.1:${port}/chat`, from(allowed.address))
    // Sent with the handshake's end: nothing of it is lost while the decision waits.
    client.on('open', () => client.send('hello'))
    const [text] = await once(client, 'message')
    t.equal(String(text), 'echo hello')
    client.terminate()
    const refused = new WebSocket(`ws://127.0.0.1:${port}/chat`, from(blocked.address))
    const [, response] = await once(refused, 'unexpected-response')
    t.equal(response.statusCode, 403)
    t.match(response.headers['content-type'], /json/)
    refused.on('error', () => {})
    refused.terminate()
    t.same(actions, ['allow'], 'the library saw the one, with the verdict')
  })

  t.test(`socket.io, decided ${name}`, async (t) => {
    const { server, port, actions } = await startServer(t, sallyport)
    const sockets = new Server(server, { serveClient: false })
    t.teardown(() => sockets.close())
    sockets.on('connection', (socket) => {
      actions.push(socket.handshake.headers['sallyport-action'])
      socket.on('say', (text, answer) => answer(`echo ${text}`))
    })
    const connect = (address: string) => {
      const options = { transports: ['websocket'], reconnection: false, forceNew: true }
      const client = io(`http://127.0.0.1:${port}`, { ...options, extraHeaders: { 'x-forwarded-for': address } })
      t.teardown(() => client.close())
      return client
    }
    const client = connect(allowed.address)
    t.equal(await client.emitWithAck('say', 'hello'), 'echo hello')
    const refused = connect(blocked.address)
    await new Promise((resolve) => refused.once('connect_error', resolve))
    t.same(actions, ['allow'])
  })
}
