import { createServer, type Socket } from 'node:net'
import type { SourceStatus } from '@sallyport/core'
import { createMetrics } from '@sallyport/engine/metrics'
import t, { type Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, readStatus } from './wire.ts'

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

async function measured(t: Test, options: ProxyOptions = {}, sources: readonly SourceStatus[] = []) {
  const meter = createMetrics()
  const sallyport = { ...fakeSallyport(), meter, observe: meter.observe, sources: () => sources }
  const proxy = await openProxy(sallyport, { ...LOOPBACK, ...options })
  t.teardown(() => proxy.close('cut'))
  const admin = String(proxy.adminUrl)
  const scrape = async () => (await fetch(`${admin}/metrics`)).text()
  return { proxy, admin, scrape }
}

t.test('GET /metrics tells decisions, failures of the origin, connections, and the process', async (t) => {
  const silent = createServer((socket: Socket) => socket.destroy())
  silent.listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await new Promise((resolve) => silent.once('listening', resolve))
  const port = (silent.address() as { port: number }).port
  const { proxy, admin, scrape } = await measured(t, { upstream: `http://127.0.0.1:${port}` })
  t.equal(readStatus(await exchange(proxy.url, get('/', 'X-Forwarded-For: 23.0.0.1'))), 403)
  t.equal(readStatus(await exchange(proxy.url, get('/', 'X-Forwarded-For: 21.0.0.1'))), 502)
  await exchange(proxy.url, 'NOT HTTP\r\n\r\n')
  const { headers } = await fetch(`${admin}/metrics`)
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const text = await scrape()
  for (const line of [
    /sallyport_decisions_total\{action="block",enforced="true",class="\w+",network_class="tor"\} 1\n/,
    /sallyport_origin_failures_total\{kind="lost"\} 1\n/,
    /sallyport_refusals_total\{cause="head"\} 1\n/,
    /sallyport_request_seconds_count\{answered_by="refusal",status="5xx"\} 1\n/,
    /sallyport_connections \d+\n/,
    /sallyport_requests_in_flight\{kind="requests"\} 0\n/,
    /sallyport_requests_queued\{queue="origin"\} 0\n/,
    /sallyport_leaked_slots_total 0\n/,
    /process_resident_memory_bytes \d+/,
  ]) {
    t.match(text, line)
  }
})

t.test('an origin that is not there is another failure than one that is late', async (t) => {
  const late = createServer(() => {})
  late.listen(0, '127.0.0.1')
  t.teardown(() => late.close())
  await new Promise((resolve) => late.once('listening', resolve))
  const port = (late.address() as { port: number }).port
  const timeouts = { originHeaders: '1s' }
  const { proxy, scrape } = await measured(t, { upstream: `http://127.0.0.1:${port}`, timeouts })
  t.equal(readStatus(await exchange(proxy.url, get('/'))), 504)
  t.match(await scrape(), /sallyport_origin_failures_total\{kind="timeout"\} 1\n/)
  await proxy.reload({ upstream: 'http://127.0.0.1:1' })
  t.equal(readStatus(await exchange(proxy.url, get('/'))), 502)
  t.match(await scrape(), /sallyport_origin_failures_total\{kind="unreachable"\} 1\n/)
})

const FRESH: SourceStatus = { id: 'asn', title: 'Networks', state: 'loaded', licence: 'CC0', credit: '' }
const STALE: SourceStatus = { ...FRESH, id: 'tor', staleAfter: '2020-01-01T00:00:00Z' }

t.test('stale data is a warning of readiness, and where it must be fresh no readiness', async (t) => {
  const ask = async (path: string, options: ProxyOptions, sources: readonly SourceStatus[]) => {
    const { proxy, admin } = await measured(t, options, sources)
    const response = await fetch(admin + path)
    await proxy.close('cut')
    return [response.status, await response.json()]
  }
  t.same(await ask('/readyz', {}, [FRESH]), [200, { status: 'ready' }])
  t.same(await ask('/readyz', {}, [FRESH, STALE]), [200, { status: 'ready', stale: ['tor'] }])
  t.same(await ask('/readyz', { data: { requireFresh: true } }, [FRESH]), [200, { status: 'ready' }])
  t.same(await ask('/readyz', { data: { requireFresh: true } }, [STALE]), [503, { status: 'stale', stale: ['tor'] }])
  const workers = { wanted: 3, serving: 2, silent: 1 }
  t.same(await ask('/readyz', { workers: () => workers }, [FRESH]), [200, { status: 'ready', workers }])
  t.match(await ask('/sources', {}, [FRESH, { ...STALE, date: '2026-01-01' }]), [
    200,
    {
      sources: [
        { ...FRESH, stale: false },
        { id: 'tor', stale: true, ageSeconds: Number },
      ],
    },
  ])
})
