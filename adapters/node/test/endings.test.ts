import { once } from 'node:events'
import { connect, constants, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Decider } from '../src/index.ts'
import { decideRequest, decider } from './support.ts'

for (const method of ['GET', 'HEAD']) {
  t.test(`a ${method} over HTTP/2 that is taken back unanswered has ended, for counts and the log`, async (t) => {
    const server = createServer()
    const ended: string[] = []
    const both = new Promise<void>((resolve) => {
      const end = (what: string) => (): void => {
        if (ended.push(what) === 2) resolve()
      }
      const host: Decider = {
        ...decider(),
        count: (decision) => ({ decision, ended: end('count') }),
        observe: end('log'),
      }
      server.on('request', (req, res) => void decideRequest(host, { req: req as never, res: res as never }))
    })
    t.teardown(() => void server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    t.teardown(() => session.destroy())
    const asked = once(server, 'request')
    const stream = session.request({ ':method': method, ':path': '/' }).on('error', () => {})
    await asked
    stream.close(constants.NGHTTP2_CANCEL)
    await both
    t.same(ended.sort(), ['count', 'log'])
  })
}
