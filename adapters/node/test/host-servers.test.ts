import type { RequestListener, Server } from 'node:http'
import t, { type Test } from 'tap'
import { guardUpgrade } from '../src/index.ts'
import { decideRequest, decider, dial, hearWarnings, serve } from './support.ts'

/** Lists the warnings at the first two requests of a server. */
async function listWarnings(t: Test, prepare: (server: Server) => void): Promise<readonly string[]> {
  const warnings = hearWarnings(t)
  const answer: RequestListener = (req, res) => {
    void decideRequest(decider(), { req, res })
    res.end()
  }
  const port = await serve(t, answer, prepare)
  for (let request = 0; request < 2; request++) {
    await dial(t, port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').closed
  }
  return [...warnings]
}

const listen = (server: Server) => void server.on('upgrade', (_req, socket) => void socket.destroy())

t.test('an upgrade listener without a guard is warned of once', async (t) => {
  t.match(await listWarnings(t, listen), [/^SALLYPORT_UPGRADES_UNGUARDED The server has an upgrade listener/])
  t.match(await listWarnings(t, listen), { length: 1 }, 'for each server')
  const guardServer = (server: Server) => {
    listen(server)
    guardUpgrade(server, decider())
  }
  t.same(await listWarnings(t, guardServer), [])
  const none = await listWarnings(t, () => {})
  t.same(none, [], 'a server that upgrades nothing needs none, nor has it weak clocks by default')
})

t.test('clocks that are off, or far behind those of Node, are warned of once', async (t) => {
  const weak = (clocks: Partial<Server>) => listWarnings(t, (server) => void Object.assign(server, clocks))
  t.match(await weak({ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 }), [
    /^SALLYPORT_WEAK_CLOCKS headersTimeout is off, requestTimeout is off, keepAliveTimeout is off on the server/,
  ])
  t.match(await weak({ headersTimeout: 90_000 }), [/^SALLYPORT_WEAK_CLOCKS headersTimeout is over 60 s/])
  t.same(await weak({ headersTimeout: 10_000, requestTimeout: 900_000, keepAliveTimeout: 75_000 }), [])
})
