import t from 'tap'
import { openOrigin, proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

t.test('another origin, with other limits: what is in flight ends as it began', async (t) => {
  let finish = (): void => {}
  const { url, proxy, origin } = await proxyBefore(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha')
    finish = () => void socket.write('lf')
  })
  const before = await send(url, get('/'))
  await readUntil(before, 'ha')
  const rest = readUntil(before)

  const other = await openOrigin(t, OK.replace('ok', 'no'))
  await proxy.reload({ upstream: other.url, limits: { eventLoopDelay: '1m', bodyBytes: 10 }, methods: ['PROPFIND'] })
  t.equal(proxy.upstream, other.url)
  t.match(await exchange(url, get('/')), /no$/)
  t.equal(readStatus(await exchange(url, get('/').replace('GET', 'PROPFIND'))), 200)
  t.equal(readStatus(await exchange(url, get('/', 'Content-Length: 11').replace('GET', 'POST'))), 413)
  t.equal(origin.heads.length, 1)
  finish()
  t.equal(await rest, 'lf')
  await until(() => origin.open() === 0)

  await t.rejects(proxy.reload({ upstream: 'nowhere' }), { code: 'invalid_config' })
  await t.rejects(proxy.reload({ limits: { inFlight: 0 } }), { code: 'invalid_config' })
  t.match(await exchange(url, get('/')), /no$/, 'and it goes on as it was')
  const silent = await proxyBefore(t, () => {})
  const waiting = exchange(silent.url, get('/'))
  await silent.proxy.reload({ timeouts: { originHeaders: 50, drain: 0 } })
  t.equal(readStatus(await waiting), 504, 'a clock is the one in force')
})

t.test('a request that waits to be counted goes on as it began', async (t) => {
  const counts: (() => void)[] = []
  const sallyport = fakeSallyport()
  sallyport.count = (decision) => new Promise((resolve) => counts.push(() => resolve({ decision })))
  const { url, proxy, origin } = await proxyBefore(t, OK, { sallyport })
  const first = exchange(url, get('/'))
  await until(() => counts.length === 1)
  counts.pop()?.()
  t.equal(readStatus(await first), 200, 'the origin is connected to')

  const waiting = exchange(url, get('/'))
  await until(() => counts.length === 1)
  await proxy.reload({})
  counts.pop()?.()
  t.equal(readStatus(await waiting), 200)
  await until(() => origin.open() === 0)
})

t.test('a configuration that is taken over after the end opens nothing', async (t) => {
  const { proxy } = await proxyBefore(t, OK)
  const other = await openOrigin(t)
  const health = { path: '/healthz', interval: 5, timeout: 1_000 }
  const take = await proxy.prepare({ routes: [{ upstreams: [other.url], health }] })
  await until(() => other.open() === 1)
  await proxy.close('cut')
  take()
  await until(() => other.open() === 0)
})
