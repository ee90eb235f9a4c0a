import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { createMetrics } from '../../src/metrics/index.ts'
import { createObservers } from '../../src/open/observers.ts'
import { observed } from '../log/observed.ts'

const RECORD = observed({ id: 'x', answeredBy: 'api', path: '/v1/myip', status: 200 })

function opened(read: (observed: ObservedRequest) => void = () => {}) {
  const metrics = createMetrics()
  const tallied: string[] = []
  const tally = { observe: ({ id }: ObservedRequest) => void tallied.push(id) }
  const observers = createObservers({ metrics, tally, others: [read, undefined], flush() {} })
  return { metrics, tallied, ...observers }
}

t.test('records are read in batches, in order, and a lone one after a moment', async (t) => {
  const read: string[] = []
  const { observe, tallied, close } = opened(({ id }) => read.push(id))
  observe(RECORD)
  t.same(read, [])
  while (read.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  for (let at = 0; at < 65; at++) observe({ ...RECORD, id: `${at}` })
  t.same([read.length, read[0], read.at(-1)], [65, 'x', '63'])
  close()
  t.equal(read.at(-1), '64')
  t.same(tallied, read)
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
