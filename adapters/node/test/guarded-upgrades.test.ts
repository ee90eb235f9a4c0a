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
  const text = await dial(t, port, upgrade('/blocked')).closed
  const [head = '', body = ''] = text.split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 403 Forbidden\r\n/)
  t.match(head, /\r\nconnection: close(\r\n|$)/i)
  t.match(head, new RegExp(`\r\ncontent-length: ${body.length}\r\n`))
  t.equal(JSON.parse(body).error, 'request_blocked')
  t.same(seen, [])

  t.match(await dial(t, port, upgrade('/flagged', 'sallyport_action: allow\r\n')).closed, /^HTTP\/1\.1 101/)
  t.same(seen, ['after /flagged flag', 'before /flagged flag'], 'others run as before, with the verdict')
})

t.test('a refusal is never the answer to an earlier request', async (t) => {
  const port = await serve(
    t,
    (req, res) => {
      if (req.url === '/answered') res.end('first')
    },
    (server) => {
      guardUpgrade(server, decider())
      server.on('upgrade', agree([], 'site'))
    },
  )
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
  let guarded: Server | undefined
  const port = await serve(
    t,
    (req, res) => res.end(`plain ${req.url}`),
    (server) => {
      guarded = server
      server.on('upgrade', listener)
      guardUpgrade(server, decider())
      server.off('upgrade', listener)
      server.once('upgrade', once)
    },
  )
  t.match(await dial(t, port, upgrade('/one')).closed, /^HTTP\/1\.1 101/)
  t.same(seen, ['once /one allow'])
  t.match(
    await dial(t, port, upgrade('/two', 'Connection: close\r\n')).closed,
    /plain \/two$/,
    'nobody upgrades any more',
  )
  t.equal(guarded?.emit('nothing'), false)
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
      guardUpgrade(server, {
        decide(request) {
          return decider().decide(request)
        },
      })
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

t.test('a forgotten await fails at start-up', async (t) => {
  t.throws(() => guardUpgrade({} as Server, Promise.resolve() as unknown as Decider), { code: 'invalid_config' })
})
