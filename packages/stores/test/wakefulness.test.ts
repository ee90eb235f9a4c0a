import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createWakefulness } from '../src/ledger/wakefulness.ts'

const turning = () => process.getActiveResourcesInfo().includes('Immediate')

t.test('the event loop goes on turning so long as was said, and then sleeps', async (t) => {
  const stayAwake = createWakefulness()
  t.equal(turning(), false)
  const start = performance.now()
  stayAwake(60)
  stayAwake(80)
  await delay(20)
  t.equal(turning(), true)
  while (turning()) await delay(1)
  t.ok(performance.now() - start >= 80, 'the last word counts')
  await delay(5)
  t.equal(turning(), false)
  stayAwake(10)
  t.equal(turning(), true, 'and again')
})
