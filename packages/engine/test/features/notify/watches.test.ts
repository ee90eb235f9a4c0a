import { EventEmitter, once } from 'node:events'
import type { SourceStatus } from '@sallyport/core'
import t from 'tap'
import { watchLedger } from '../../../src/attestation/ledger-watch.ts'
import { watchStale } from '../../../src/open/stale-watch.ts'
import type { ServiceEvent } from '../../../src/service/event.ts'

t.test('data is said to be old when its age is over, and when it is not any more', async (t) => {
  const heard = new EventEmitter()
  const source = (id: string, inMs: number) =>
    ({ id, state: 'loaded', staleAfter: new Date(Date.now() + inMs).toISOString() }) as SourceStatus
  let sources = [source('tor-bulk-exit', 1_000), source('old', -1), source('later', 2_000)]
  const raise = (event: ServiceEvent) => void heard.emit('event', event)
  const watch = watchStale({ sources: () => sources, clock: { now: Date.now }, raise, graceMs: 0 })
  t.teardown(watch.close)
  // Its timers hold no process.
  const holding = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(holding))
  const next = async (): Promise<ServiceEvent> => (await once(heard, 'event'))[0]
  t.match((await next()).text, /^1 of 3 data sources is stale: old\./)
  const second = await next()
  t.match(second, { kind: 'stale', text: /^2 of 3 data sources are stale: tor-bulk-exit, old\./ })
  // The next look comes when the third one's time would be over.
  sources = sources.map(({ id }) => source(id, 86_400_000))
  t.match(await next(), { kind: 'stale', over: true, text: 'No data is stale any more.' })
})

t.test('each part of the ledger is said to fail once, and to work again', async (t) => {
  const raised: ServiceEvent[] = []
  const { failed, worked } = watchLedger((event) => void raised.push(event))
  worked('records')
  failed('records', new Error('disk I/O error.'))
  failed('records', new Error('disk I/O error.'))
  failed('checkpoints', 'no key')
  worked('records')
  t.same(
    raised.map(({ about, text, over }) => [about, text, over]),
    [
      ['records', 'The ledger stores no records: disk I/O error.', undefined],
      ['checkpoints', 'Records of the ledger are not signed: no key.', undefined],
      ['records', 'The ledger stores records again.', true],
    ],
  )
})
