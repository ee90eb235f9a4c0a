import { EventEmitter, once } from 'node:events'
import { createFakeClock } from '@sallyport/core/testing'
import t from 'tap'
import { open } from '../../../src/open/open.ts'
import type { ServiceEvent } from '../../../src/service/event.ts'
import { observed } from '../../log/observed.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'
import { openHook } from './events.ts'

const MINUTES = 60_000
const SHUT = { policy: { rules: [{ id: 'shut', match: { path: ['/**'] }, action: 'block' as const }] } }

t.test('a service counts what it refuses, and tells a spike of it to the places in force', async (t) => {
  const [first, second] = [await openHook(t), await openHook(t)]
  const clock = createFakeClock('2026-11-01T00:00:00Z')
  const place = (url: string) => ({ url, on: ['spike' as const] })
  const config = {
    ...madeConfig(t.testdir()),
    ...SHUT,
    net: { allowPrivate: ['127.0.0.0/8'] },
    notify: [place(first.url)],
  }
  const sallyport = await open(config, { clock, onNotice: () => {} })
  t.teardown(sallyport.close)
  const refuse = (count: number): void => {
    for (let request = 0; request < count; request++) {
      const decision = sallyport.decide(requestFrom('198.51.100.7'))
      sallyport.observe(observed({ decision }))
      // A request that was described to the API is no visit.
      sallyport.observe(observed({ decision, answeredBy: 'check' }))
    }
  }
  for (let span = 0; span < 5; span++) {
    refuse(2)
    sallyport.drain()
    clock.advance(5 * MINUTES)
  }
  refuse(150)
  const [posted] = await first.received(1)
  t.match(JSON.parse(posted?.body ?? ''), {
    kind: 'spike',
    text: '100 requests were blocked or challenged within five minutes; the usual number is 2.',
    details: { requests: 100, usual: 2 },
  })

  await sallyport.reload({ ...config, notify: [place(second.url)] })
  clock.advance(60 * MINUTES)
  refuse(150)
  const [other] = await second.received(1)
  t.match(JSON.parse(other?.body ?? ''), { kind: 'spike', leftOut: 0 })
  t.equal(first.posted.length, 1)
  const { values } = (await sallyport.metrics().getMetricsAsJSON()).find(
    ({ name }) => name === 'sallyport_notifications_total',
  ) as { readonly values: readonly object[] }
  t.match(values, [{ labels: { kind: 'spike', outcome: 'sent' } }])
})

t.test('one of several processes hands over what it notices, and sends nothing', async (t) => {
  const hook = await openHook(t)
  const taken: (ServiceEvent | number)[] = []
  const events = {
    raise: (event: ServiceEvent) => void taken.push(event),
    refused: (count: number) => void taken.push(count),
  }
  const config = { ...madeConfig(t.testdir()), ...SHUT, notify: [{ url: hook.url }] }
  const sallyport = await open(config, { events, onNotice: () => {} })
  t.teardown(sallyport.close)
  sallyport.observe(observed({ decision: sallyport.decide(requestFrom('198.51.100.7')) }))
  sallyport.drain()
  const event: ServiceEvent = { kind: 'origin', about: 'o', text: 'The origin o is down.' }
  sallyport.raise(event)
  t.same(taken, [1, event])
  t.equal(hook.posted.length, 0)
})

for (const [addresses, client] of [
  ['full', '198.51.99.7'],
  ['truncated', '198.51.99.0/24'],
  ['none', undefined],
] as const) {
  t.test(`a ban has the address as the log has it: ${addresses}`, async (t) => {
    const heard = new EventEmitter()
    const events = { raise: (event: ServiceEvent) => void heard.emit('event', event), refused() {} }
    const config = {
      ...madeConfig(t.testdir()),
      policy: { ...SHUT.policy, strikes: { count: 1, window: '1h', on: ['blocked' as const], for: '1d' } },
      log: { addresses, requests: 'off' as const },
      counting: { place: 'memory' as const },
    }
    const sallyport = await open(config, { events, onNotice: () => {} })
    t.teardown(sallyport.close)
    const banned = once(heard, 'event')
    for (let request = 0; request < 3; request++) {
      const counted = await sallyport.count(sallyport.decide(requestFrom('198.51.99.7')))
      counted.ended?.(403)
    }
    const [event] = await banned
    t.match(event, { kind: 'ban', about: 'strikes', text: /^A client in a network of class \w+.* is banned until / })
    t.equal(event.details.client, client)
    if (client !== '198.51.99.7') t.notMatch(JSON.stringify(event), '198.51.99.7')
  })
}
