import { connect } from 'node:net'
import t from 'tap'
import type { Host } from './host.ts'
import { madeScene } from './scene.ts'
import { exchange, parseResponse, requestBytes } from './wire.ts'

const { allowed, blocked, enforcing } = madeScene()

/** Checks that the inspection changes no habit of a server beside one plain request. */
export function keepHabits({ name, start }: Host): void {
  t.test(name, async (t) => {
    const running = await start(enforcing, '')
    t.teardown(() => running.close())
    const ask = async (bytes: string) => parseResponse(await exchange(running.port, bytes))
    const fields = (address: string, ...more: readonly string[]) => ['X-Forwarded-For', address, ...more]

    t.test('HTTP/1.0, whose connection ends with the answer', async (t) => {
      const bytes = (address: string) => requestBytes('GET', '/shop', fields(address)).replace('HTTP/1.1', 'HTTP/1.0')
      t.equal((await ask(bytes(blocked.address))).status, 403)
      t.equal((await ask(bytes(allowed.address))).status, 200)
    })

    t.test('OPTIONS and HEAD are requests like any other', async (t) => {
      for (const method of ['OPTIONS', 'HEAD']) {
        const refused = await ask(requestBytes(method, '/shop', fields(blocked.address, 'Connection', 'close')))
        t.equal(refused.status, 403, method)
        t.equal(refused.body === '', method === 'HEAD')
        const passed = await ask(requestBytes(method, '/shop', fields(allowed.address, 'Connection', 'close')))
        t.equal(passed.status, 200, method)
        t.equal(passed.body === '', method === 'HEAD')
      }
    })

    t.test('a connection that is kept serves one after the other', async (t) => {
      const get = (address: string, ...more: readonly string[]) =>
        requestBytes('GET', '/shop', fields(address, ...more))
      const text = await exchange(running.port, get(blocked.address) + get(allowed.address, 'Connection', 'close'))
      t.same(
        [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
        ['403', '200'],
      )
    })

    t.test('a client that leaves in the middle of its body harms nobody', async (t) => {
      for (const { address } of [allowed, blocked]) {
        const socket = connect(running.port, '127.0.0.1')
        socket.on('error', () => {})
        socket.write(requestBytes('POST', '/shop', fields(address, 'Content-Length', '100')))
        await new Promise((resolve) => socket.write('{"cart":', resolve))
        socket.destroy()
      }
      t.equal((await ask(requestBytes('GET', '/shop', fields(allowed.address, 'Connection', 'close')))).status, 200)
    })
  })
}
