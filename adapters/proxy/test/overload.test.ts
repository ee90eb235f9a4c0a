import t from 'tap'
import { watchOverload } from '../src/bounds/overload.ts'
import { proxyBefore } from './behind.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

const stall = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

t.test('an event loop that is late is overload, until it is in time again', async (t) => {
  const overload = watchOverload({ eventLoopDelay: 50, heapUsed: 1 })
  t.notOk(overload.present)
  while (!overload.present) {
    stall(200)
    await new Promise((resolve) => setImmediate(resolve))
  }
  while (overload.present) await new Promise((resolve) => setTimeout(resolve, 20))
  overload.close()
})

t.test('a heap that is nearly full is overload', async (t) => {
  const overload = watchOverload({ eventLoopDelay: 60_000, heapUsed: 1e-6 })
  while (!overload.present) await new Promise((resolve) => setTimeout(resolve, 20))
  overload.close()
  t.pass()
})

t.test('an overloaded proxy sheds requests, and tells of its health', async (t) => {
  const refused: string[] = []
  const { url, proxy } = await proxyBefore(t, OK, {
    limits: { eventLoopDelay: '20ms' },
    onRefused: (cause) => refused.push(cause),
  })
  // On a busy machine the proxy refuses requests from the beginning.
  while (readStatus(await exchange(url, get('/'))) !== 200);
  refused.length = 0
  let shed = ''
  while (readStatus(shed) !== 503) {
    stall(150)
    shed = await exchange(url, get(refused.length % 2 === 0 ? '/' : '/v1/x'))
  }
  t.match(shed, /retry-after: 5/i)
  t.equal(refused[0], 'overload')
  t.equal(readStatus(await exchange(String(proxy.adminUrl), get('/healthz').replace('site.example', 'localhost'))), 200)
  t.equal(readStatus(await exchange(String(proxy.adminUrl), get('/readyz').replace('site.example', 'localhost'))), 200)
  while (readStatus(shed) !== 200) shed = await exchange(url, get('/'))
})
