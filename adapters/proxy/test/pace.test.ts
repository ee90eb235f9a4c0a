import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createPace } from '../src/listener/pace.ts'
import { proxyBefore } from './behind.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

t.test('a connection begins few of its thousand requests in a turn, and another is next', async (t) => {
  const pace = createPace()
  const [flood, visitor] = [{}, {}]
  const begun: string[] = []
  for (let sent = 0; sent < 1_000; sent++) pace(flood, () => begun.push('flood'))
  pace(visitor, (waitedMs) => begun.push(waitedMs > 0 ? 'visitor' : 'at once'))
  const atOnce = begun.length
  t.ok(atOnce > 0 && atOnce < 50, `${atOnce} at once`)
  await nextTurn()
  t.ok(begun.slice(atOnce, atOnce + 2).includes('visitor'), 'connections take turns')
  for (let before = begun.length; begun.length < 1_001; before = begun.length) {
    await nextTurn()
    t.ok(begun.length > before && begun.length - before < 50, 'few in each turn, and some')
  }
})

t.test('a request that comes alone waits for nobody, also after many', async (t) => {
  const pace = createPace()
  for (let round = 0; round < 3; round++) {
    let waited = Number.NaN
    pace({}, (waitedMs) => {
      waited = waitedMs
    })
    t.equal(waited, 0)
    let left = 200
    for (let sent = 0; sent < 200; sent++) pace({}, () => left--)
    while (left > 0) await nextTurn()
    await nextTurn()
  }
})

t.test('a request that begins another one within its own turn does not begin all of them at once', async (t) => {
  const pace = createPace()
  const connection = {}
  let begun = 0
  const again = (): void => {
    begun++
    if (begun < 500) pace(connection, again)
  }
  pace(connection, again)
  t.ok(begun < 50)
  while (begun < 500) await nextTurn()
})

t.test('a newcomer is answered while a flood over many connections still is', async (t) => {
  const { url } = await proxyBefore(t, OK, { limits: { eventLoopDelay: '1m' } })
  const port = Number(new URL(url).port)
  const sockets = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      return socket
    }),
  )
  t.teardown(() => sockets.map((socket) => socket.destroy()))
  let answered = 0
  for (const socket of sockets) {
    socket.setEncoding('latin1').on('data', (text: string) => {
      answered += text.split('HTTP/1.1 ').length - 1
    })
    // Answered by the API, at once.
    socket.write(`GET /v1/nothing HTTP/1.1\r\nHost: site.example\r\n\r\n`.repeat(16))
  }
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  const before = answered
  t.ok(before < 1_024, `${before} of 1,024 before it`)
  while (answered < 1_024) await nextTurn()
})
