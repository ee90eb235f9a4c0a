import { EventEmitter, once } from 'node:events'
import { createFakeClock } from '@sallyport/core/testing'
import t from 'tap'
import { open } from '../../../src/open/open.ts'
import type { ServiceEvent } from '../../../src/service/event.ts'
import { observed } from '../../log/observed.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { openService } from '../../open/opened.ts'
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
  const sallyport = await openService(t, config, { clock })
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
  t.match(await first.message(1), {
    kind: 'spike',
    text: '100 requests were blocked or challenged within five minutes; the usual number is 2.',
    details: { requests: 100, usual: 2 },
  })

  await sallyport.reload({ ...config, notify: [place(second.url)] })
  clock.advance(60 * MINUTES)
  refuse(150)
  t.match(await second.message(1), { kind: 'spike', leftOut: 0 })
  t.equal(first.posted.length, 1)
  const metrics = await sallyport.metrics().metrics()
  t.match(metrics, /sallyport_notifications_total\{kind="spike",outcome="sent"\} \d/)
  const blocked = metrics.matchAll(/^sallyport_decisions_total\{action="block",.+\} (\d+)$/gm)
  const sum = [...blocked].reduce((total, [, count]) => total + Number(count), 0)
  t.equal(sum, 310, 'a reload loses none and counts none twice')
})

t.test('a ban has the address as the log has it', async (t) => {
  for (const [addresses, client] of [
    ['full', '198.51.99.7'],
    ['truncated', '198.51.99.0/24'],
    ['none', undefined],
  ] as const) {
    const heard = new EventEmitter()
    const handed: number[] = []
    const raise = (event: ServiceEvent) => void heard.emit('event', event)
    const events = { raise, refused: (count: number) => void handed.push(count) }
    const config = {
      ...madeConfig(t.testdir()),
      policy: { ...SHUT.policy, strikes: { count: 1, window: '1h', on: ['blocked' as const], for: '1d' } },
      log: { addresses, requests: 'off' as const },
      counting: { place: 'memory' as const },
    }
    const sallyport = await open(config, { events, onNotice: () => {} })
    const banned = once(heard, 'event')
    for (let request = 0; request < 3; request++) {
      const counted = await sallyport.count(sallyport.decide(requestFrom('198.51.99.7')))
      counted.ended?.(403)
    }
    const [event] = await banned
    sallyport.observe(observed({ decision: sallyport.decide(requestFrom('198.51.99.7')) }))
    sallyport.drain()
    t.same(handed, [1], 'a process that hands events over hands over what it refuses')
    await sallyport.close()
    t.match(event, { kind: 'ban', about: 'strikes', text: /^A client in a network of class \w+.* is banned until / })
    t.equal(event.details.client, client)
    if (client !== '198.51.99.7') t.notMatch(JSON.stringify(event), '198.51.99.7')
  }
})
