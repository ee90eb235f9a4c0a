import type { Socket } from 'node:net'
import type { SourceStatus } from '@sallyport/core'
import t from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { meteredSallyport, VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

t.test('GET /metrics counts decisions, failures of the origin, connections, and the process', async (t) => {
  const sallyport = meteredSallyport()
  const answer = (socket: Socket, head: string): void => void (head.startsWith('GET /late') || socket.destroy())
  const { url, admin, proxy } = await proxyBefore(t, answer, { sallyport, timeouts: { originHeaders: '1s' } })
  t.equal(readStatus(await exchange(url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`))), 403)
  t.equal(readStatus(await exchange(url, get('/'))), 502)
  t.equal(readStatus(await exchange(url, get('/late'))), 504)
  await exchange(url, 'NOT HTTP\r\n\r\n')
  const { headers } = await fetch(`${admin}/metrics`)
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  await proxy.reload({ upstream: 'http://127.0.0.1:1', limits: { eventLoopDelay: '1m' } })
  t.equal(readStatus(await exchange(url, get('/'))), 502)
  const text = await (await fetch(`${admin}/metrics`)).text()
  for (const line of [
    /sallyport_decisions_total\{action="block",enforced="true",class="\w+",network_class="tor"\} 1\n/,
    /sallyport_origin_failures_total\{kind="lost"\} 1\n/,
    /sallyport_origin_failures_total\{kind="timeout"\} 1\n/,
    /sallyport_origin_failures_total\{kind="unreachable"\} 1\n/,
    /sallyport_refusals_total\{cause="head"\} 1\n/,
    /sallyport_request_seconds_count\{answered_by="refusal",status="5xx"\} 3\n/,
    /sallyport_connections \d+\n/,
    /sallyport_requests_in_flight\{kind="requests"\} 0\n/,
    /sallyport_requests_queued\{queue="origin"\} 0\n/,
    /sallyport_leaked_slots_total 0\n/,
    /process_resident_memory_bytes \d+/,
  ])
    t.match(text, line)
})

const FRESH: SourceStatus = { id: 'asn', title: 'Networks', state: 'loaded', licence: 'CC0', credit: '' }
const STALE: SourceStatus = { ...FRESH, id: 'tor', staleAfter: '2020-01-01T00:00:00Z' }

t.test('stale data is a warning of readiness, and where it must be fresh no readiness', async (t) => {
  const ask = async (path: string, options: ProxyOptions, sources: readonly SourceStatus[]) => {
    const sallyport = { ...meteredSallyport(), sources: () => sources }
    const { admin } = await proxyBefore(t, OK, { sallyport, ...options })
    const response = await fetch(admin + path)
    return [response.status, await response.json()]
  }
  t.same(await ask('/readyz', {}, [FRESH]), [200, { status: 'ready' }])
  t.same(await ask('/readyz', {}, [FRESH, STALE]), [200, { status: 'ready', stale: ['tor'] }])
  t.same(await ask('/readyz', { data: { requireFresh: true } }, [FRESH]), [200, { status: 'ready' }])
  t.same(await ask('/readyz', { data: { requireFresh: true } }, [STALE]), [503, { status: 'stale', stale: ['tor'] }])
  const workers = { wanted: 3, serving: 2, silent: 1 }
  t.same(await ask('/readyz', { workers: () => workers }, [FRESH]), [200, { status: 'ready', workers }])
  const old = { id: 'tor', stale: true, ageSeconds: Number }
  const listed = await ask('/sources', {}, [FRESH, { ...STALE, date: '2026-01-01' }])
  t.match(listed, [200, { sources: [{ ...FRESH, stale: false }, old] }])
})
