import { once } from 'node:events'
import { connect, constants, createServer } from 'node:http2'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import type { Decider } from '../src/index.ts'
import { decideRequest, decider, dial, serve } from './support.ts'

for (const method of ['GET', 'HEAD']) {
  t.test(`a ${method} over HTTP/2 that is taken back unanswered has ended, for counts and the log`, async (t) => {
    const server = createServer()
    const ended: string[] = []
    const both = new Promise<void>((resolve) => {
      const end = (what: string) => (): void => void (ended.push(what) === 2 && resolve())
      const count: Decider['count'] = (decision) => ({ decision, ended: end('count') })
      const host: Decider = { ...decider(), count, observe: end('log') }
      server.on('request', (req, res) => void decideRequest(host, { req: req as never, res: res as never }))
    })
    const session = connect(`http://127.0.0.1:${await listening(t, server as never)}`)
    t.teardown(() => session.destroy())
    const asked = once(server, 'request')
    const stream = session.request({ ':method': method, ':path': '/' }).on('error', () => {})
    await asked
    stream.close(constants.NGHTTP2_CANCEL)
    await both
    t.same(ended.sort(), ['count', 'log'])
  })
}

t.test('one listener ends all that ends with a request, each once, despite an error', async (t) => {
  const told: string[] = []
  const warned = once(process, 'warning')
  const host: Decider = {
    ...decider(),
    count: (decision) => ({
      decision,
      ended() {
        told.push('count')
        if (told.length === 2) throw new Error('a bug')
      },
    }),
    observe: () => void told.push('log'),
  }
  const listeners: number[] = []
  const port = await serve(t, async (req, res) => {
    const before = res.listenerCount('close')
    await decideRequest(host, { req, res })
    await decideRequest(host, { req, res })
    listeners.push(res.listenerCount('close') - before)
    res.once('close', () => res.emit('close'))
    res.end()
  })
  await dial(t, port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').closed
  t.match(await warned, [{ message: /was not counted: Error: a bug/ }])
  t.same(listeners, [1])
  t.same(told, ['log', 'count', 'count'])
})

t.test('what is kept of a request is no member of it, and no field', async (t) => {
  const port = await serve(t, async (req, res) => {
    const { length } = Reflect.ownKeys(req)
    await decideRequest(decider(), { req, res })
    const others = req.rawHeaders.filter((text) => typeof text !== 'string')
    const seen = [Reflect.ownKeys(req).length - length, others.length]
    const id = res.getHeader('x-request-id')
    await decideRequest(decider(), { req, res })
    res.end(JSON.stringify([...seen, res.getHeader('x-request-id') === id]))
  })
  const answer = await dial(t, port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n').closed
  t.match(answer, /\[0,0,true\]/)
})
