import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { createMetrics } from '../../src/metrics/index.ts'
import { createObservers } from '../../src/open/observers.ts'

const RECORD: ObservedRequest = {
  id: 'x',
  answeredBy: 'api',
  peer: '192.0.2.1',
  client: '192.0.2.1',
  method: 'GET',
  host: '',
  path: '/v1/myip',
  status: 200,
  at: 0,
  milliseconds: 1,
}

function opened(read: (observed: ObservedRequest) => void = () => {}) {
  const metrics = createMetrics()
  const tallied: string[] = []
  const tally = { observe: ({ id }: ObservedRequest) => void tallied.push(id) }
  const observers = createObservers({ metrics, tally, others: [read, undefined], flush() {} })
  return { metrics, tallied, ...observers }
}

t.test('records are read in batches, in order', async (t) => {
  const read: string[] = []
  const { observe, tallied, close } = opened(({ id }) => read.push(id))
  for (let at = 0; at < 65; at++) observe({ ...RECORD, id: `${at}` })
  t.equal(read.length, 64)
  t.equal(read[63], '63')
  close()
  t.same(read.at(-1), '64')
  t.same(tallied, read)
})

t.test('a lone record is read after a moment', async (t) => {
  const read: string[] = []
  const { observe } = opened(({ id }) => read.push(id))
  observe(RECORD)
  t.same(read, [])
  while (read.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same(read, ['x'])
})

t.test('metrics are exact at every read', async (t) => {
  const { observe, metrics } = opened()
  observe(RECORD)
  t.match(await metrics.registry.metrics(), /sallyport_request_seconds_count\{answered_by="api"[^}]*\} 1/)
  observe(RECORD)
  t.match(metrics.ended, [{ count: 2 }])
})

t.test('a reader reads the counts before its record, and one that throws keeps no other from reading', async (t) => {
  const counts: unknown[] = []
  const { observe, metrics, tallied, drain } = opened(() => {
    counts.push(metrics.ended[0]?.count)
    throw new Error('unread')
  })
  const warned = new Promise((resolve) => process.once('warning', resolve))
  observe(RECORD)
  observe(RECORD)
  drain()
  t.same(counts, [undefined, 1])
  t.same(tallied, ['x', 'x'])
  t.match(await warned, { message: /A request was not observed/ })
})
