import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { watchOverload } from '../src/gate/admission.ts'
import { createPace, createTurns } from '../src/listener/turns.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, dial, exchange, get, getLocal, OK, readStatus, stall, until } from './wire.ts'

t.test('a heap that is nearly full is overload', async (t) => {
  const overload = watchOverload({ eventLoopDelay: 60_000, heapUsed: 1e-6 })
  while (!overload.present) await new Promise((resolve) => setTimeout(resolve, 20))
  overload.close()
  t.pass()
})

t.test('an overloaded proxy sheds requests, and answers health checks', async (t) => {
  const { url, admin, refused } = await proxyBefore(t, OK, { limits: { eventLoopDelay: '20ms' } })
  // On a busy machine the proxy refuses requests from the beginning.
  while (readStatus(await exchange(url, get('/'))) !== 200);
  refused.length = 0
  let shed = ''
  while (readStatus(shed) !== 503) {
    stall(150)
    shed = await exchange(url, get('/', 'Accept: text/html'))
  }
  t.match(shed, /retry-after: 5\r\n[\s\S]*<!doctype html>[\s\S]*Try again in a moment/i)
  t.equal(refused[0], 'overload')
  for (const path of ['/healthz', '/readyz']) t.equal(readStatus(await exchange(admin, getLocal(path))), 200)
  while (readStatus(shed) !== 200) shed = await exchange(url, get('/'))
})

t.test('rules read how near requests in flight and the queue of an origin are to their limits', async (t) => {
  let load = (): number => Number.NaN
  const read = (source: () => number) => (load = source)
  const sallyport = Object.assign(fakeSallyport(), { load: { read } })
  const held: Socket[] = []
  let isHeld = true
  const answer: Answer = (socket) => void (isHeld ? held.push(socket) : socket.write(OK))
  const limits = { inFlight: 10, originConnections: 2, originQueue: 4 }
  const { url, proxy } = await proxyBefore(t, answer, { sallyport, limits })
  t.equal(load(), 0)
  const answers = [exchange(url, get('/')), exchange(url, get('/'))]
  await until(() => held.length === 2)
  t.equal(load(), 0.2, 'two of ten in flight')
  answers.push(...Array.from({ length: 3 }, () => exchange(url, get('/'))))
  while (load() !== 0.75) await nextTurn()
  t.equal(load(), 0.75, 'three of four wait for a connection')
  await proxy.reload({ upstream: proxy.upstream, limits: { inFlight: 20, eventLoopDelay: '1m' } })
  t.equal(load(), 0, 'of what serves now')
  isHeld = false
  for (const socket of held) socket.write(OK)
  t.same((await Promise.all(answers)).map(readStatus), [200, 200, 200, 200, 200])
})

t.test('an idle connection holds nothing of its last request', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const take = createTurns(() => 8, t.fail, createPace())
  const responses: WeakRef<ServerResponse>[] = []
  const server = createServer((request, response) => {
    responses.push(new WeakRef(response))
    take(request.socket, response, () => response.end())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  while (responses.length < 2 || responses.some((response) => response.deref() !== undefined)) {
    await nextTurn()
    collect()
  }
  t.equal(socket.destroyed, false)
  socket.destroy()
})

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

t.test('a newcomer is answered while a flood over many connections still is', async (t) => {
  const { url } = await proxyBefore(t, OK)
  const sockets = await Promise.all(Array.from({ length: 64 }, () => dial(url)))
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
