import t, { type Test } from 'tap'
import type { ConfigInput } from '../../src/open/index.ts'
import type { OpenHooks } from '../../src/service/hooks.ts'
import { createLoadMeter } from '../../src/service/load/load-meter.ts'
import { openMade } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

t.test('a load goes on at its bound, and off well below it, after a minute at least', async (t) => {
  const turned: unknown[] = []
  const meter = createLoadMeter(({ on, atLeast }) => void turned.push([on, atLeast]))
  const isOn = meter.latch(0.8)
  t.ok(meter.isAsked)
  let now = 0
  const take = (sample: number, seconds: number) => {
    const end = now + seconds * 1_000
    while (now < end) {
      now += 250
      meter.take(sample, now)
    }
  }
  take(0.1, 10)
  take(1, 1)
  t.notOk(isOn(), 'one second says nothing')
  take(1, 10)
  t.same([isOn(), meter.isOn, turned], [true, true, [[true, 0.8]]])
  take(0.1, 30)
  t.ok(meter.now() < 0.6)
  t.ok(isOn(), 'for a minute at least')
  take(0.7, 60)
  t.ok(isOn(), 'and while it is not well below')
  take(0.5, 20)
  t.same([isOn(), meter.isOn, turned.at(-1)], [false, false, [false, 0.8]])
  take(0.75, 30)
  t.notOk(isOn())
})

t.test('of several processes the highest load counts, and each says its own', async (t) => {
  const meter = createLoadMeter(() => {})
  const isOn = meter.latch(0.5)
  meter.take(0.1, 0)
  meter.take(0.1, 60_000)
  meter.takeOthers(0.9, 60_250)
  t.ok(isOn())
  t.equal(meter.now(), 0.9)
  t.ok(meter.own < 0.2)
  meter.takeOthers(0, 130_000)
  t.notOk(isOn())
})

async function opened(t: Test, rules: NonNullable<ConfigInput['policy']>['rules'], hooks: OpenHooks = {}) {
  const sallyport = await openMade(t, { policy: { rules } }, hooks)
  const decide = () => sallyport.decide(requestFrom('198.51.100.7'))
  const takeLoad = (load: number) => {
    const from = performance.now()
    for (let at = 0; at < 20_000; at += 250) sallyport.load.take(load, from + at)
  }
  return { sallyport, decide, takeLoad }
}

t.test('rules read the load of what is served, and metrics and the log say when they are on', async (t) => {
  const rules = [{ id: 'busy', match: { load: { atLeast: 0.8 } }, action: 'block' as const }]
  const { sallyport, decide, takeLoad } = await opened(t, rules)
  t.equal(decide().action, 'allow')
  takeLoad(2)
  t.equal(decide().action, 'block')
  const metrics = await sallyport.metrics().metrics()
  t.match(metrics, /sallyport_load\{kind="on"\} 1/)
  t.match(metrics, /sallyport_load\{kind="now"\} 1\.\d+/)
})

t.test('requests of another time do not meet the load of now', async (t) => {
  const rules = [
    { id: 'busy', match: { load: { atLeast: 0.1 } }, action: 'block' as const },
    { id: 'idle', match: { not: { load: { atLeast: 0.1 } } }, action: 'flag' as const },
  ]
  const { decide, takeLoad } = await opened(t, rules, { clock: { now: () => Date.parse('2026-11-01T00:00:00Z') } })
  takeLoad(1)
  t.match(decide().reasons[0], { id: 'policy:default' }, 'neither so nor otherwise')
})
