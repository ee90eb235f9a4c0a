import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import t from 'tap'
import { type Decider, guardUpgrade } from '../src/index.ts'
import { decider, dial, serve } from './support.ts'

const upgrade = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`

/** A listener as a WebSocket library adds one; it agrees and closes. */
function agree(seen: string[], name: string) {
  return (req: IncomingMessage, socket: Duplex) => {
    seen.push(`${name} ${req.url} ${req.headers['sallyport-action']}`)
    if (!socket.writableEnded) socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  }
}

t.test('a block is answered on the socket and no listener runs, whenever it was added', async (t) => {
  const seen: string[] = []
  const port = await serve(t, undefined, (server) => {
    server.on('upgrade', agree(seen, 'before'))
    guardUpgrade(server, decider())
    server.prependListener('upgrade', agree(seen, 'after'))
  })
  const [head = '', body = ''] = (await dial(t, port, upgrade('/blocked')).closed).split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 403 Forbidden\r\n/)
  t.match(head, new RegExp(`\r\ncontent-length: ${body.length}\r\n`))
  t.same(seen, [])

  t.match(await dial(t, port, upgrade('/flagged', 'sallyport_action: allow\r\n')).closed, /^HTTP\/1\.1 101/)
  t.same(seen, ['after /flagged flag', 'before /flagged flag'], 'others run as before, with the verdict')
})

t.test('a refusal is never the answer to an earlier request', async (t) => {
  const guard = (server: Server): void => {
    guardUpgrade(server, decider())
    server.on('upgrade', agree([], 'site'))
  }
  const port = await serve(t, (req, res) => void (req.url === '/answered' && res.end('first')), guard)
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  t.equal(await dial(t, port, get('/unanswered') + upgrade('/blocked')).closed, '', 'the connection is cut')
  const { socket, closed } = dial(t, port, get('/answered'))
  socket.once('data', () => socket.write(upgrade('/blocked')))
  t.match(await closed, /^HTTP\/1\.1 200 [\s\S]*first[\s\S]*HTTP\/1\.1 403 /, 'behind an answer it comes as ever')
})

t.test('listeners can still be taken away, and other events pass', async (t) => {
  const seen: string[] = []
  const listener = agree(seen, 'removed')
  const once = agree(seen, 'once')
  const prepare = (server: Server): void => {
    server.on('upgrade', listener)
    guardUpgrade(server, decider())
    server.off('upgrade', listener).once('upgrade', once)
  }
  const port = await serve(t, (req, res) => res.end(`plain ${req.url}`), prepare)
  t.match(await dial(t, port, upgrade('/one')).closed, /^HTTP\/1\.1 101/)
  t.same(seen, ['once /one allow'])
  const plain = await dial(t, port, upgrade('/two', 'Connection: close\r\n')).closed
  t.match(plain, /plain \/two$/, 'nobody upgrades any more')
})

t.test('a decider that fails does not throw at the server', async (t) => {
  const seen: string[] = []
  const broken: Decider = {
    decide() {
      throw new Error('a fault')
    },
  }
  const warned = new Promise((resolve) => process.once('warning', resolve))
  const port = await serve(t, undefined, (server) => {
    guardUpgrade(server, broken)
    server.on('upgrade', agree(seen, 'site'))
  })
  t.match(await dial(t, port, upgrade('/', 'Sallyport-Action: allow\r\n')).closed, /^HTTP\/1\.1 101/)
  t.same(seen, ['site / undefined'])
  await warned
})

t.test('a client that resets while it is refused', async (t) => {
  const failed = new Promise<boolean>((resolve) => {
    const listening = serve(t, undefined, (server) => {
      server.on('upgrade', agree([], 'site'))
      guardUpgrade(server, decider())
      const guarded = server.emit
      server.emit = ((event: string, ...values: [unknown, Duplex]) => {
        const result = Reflect.apply(guarded, server, [event, ...values])
        if (event === 'upgrade') resolve(values[1].emit('error', new Error('reset')))
        return result
      }) as typeof server.emit
    })
    void listening.then((port) => dial(t, port, upgrade('/blocked')))
  })
  t.equal(await failed, true, 'its error is listened for')
})
