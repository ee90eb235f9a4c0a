import { connect } from 'node:net'
import supertest from 'supertest'
import t from 'tap'
import { FRAMEWORKS } from './frameworks.ts'
import { HOSTS, type Host } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'
import { askAs, exchange, parseResponse, requestBytes } from './wire.ts'

/* Tests the habits of servers, and of a tool by which people test their sites. */
const { allowed, blocked, enforcing } = madeScene()

/** Checks that the inspection changes no habit of a server beside one plain request. */
function keepHabits({ name, start }: Host): void {
  t.test(name, async (t) => {
    const running = await start(enforcing, '')
    t.teardown(() => running.close())
    const fields = (address: string, ...more: readonly string[]) => ['X-Forwarded-For', address, ...more]

    t.test('HTTP/1.0, whose connection ends with the answer; OPTIONS and HEAD', async (t) => {
      for (const [{ address }, status] of [
        [blocked, 403],
        [allowed, 200],
      ] as const) {
        const bytes = requestBytes('GET', '/shop', fields(address)).replace('HTTP/1.1', 'HTTP/1.0')
        t.equal(parseResponse(await exchange(running.port, bytes)).status, status)
        for (const method of ['OPTIONS', 'HEAD']) {
          const answer = await askAs(running, address, '/shop', [], { method })
          t.same([answer.status, answer.body === ''], [status, method === 'HEAD'], method)
        }
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
      t.equal((await askAs(running, allowed.address, '/shop')).status, 200)
    })
  })
}

for (const host of [...HOSTS, ...MORE_HOSTS]) keepHabits(host)

t.test('supertest asks a site that has no server of its own', async (t) => {
  for (const [name, create] of Object.entries(FRAMEWORKS)) {
    const app = await create(enforcing, () => ({ came: true }))
    const ask = (address: string) => supertest(app).get('/shop').set('X-Forwarded-For', address)
    t.same((await ask(allowed.address)).body, { came: true }, name)
    t.equal((await ask(blocked.address)).status, 403, name)
  }
})
