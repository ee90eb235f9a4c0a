import { join } from 'node:path'
import t from 'tap'
import { writeSummary } from './report.ts'
import { HEAP_MB, runGroup } from './run-group.ts'

const LATE = `
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
t.test('leaves something', async (t) => {
  t.pass('the first')
  setTimeout(() => { throw new Error('a socket of its own was reset') }, 100)
})
t.test('waits', async (t) => {
  await delay(60_000)
})`

t.test('an error that comes after its test is the first that a report says', async (t) => {
  const folder = t.testdir({ 'late.test.mjs': LATE })
  const group = { name: 'late', files: [join(folder, 'late.test.mjs')], bytes: 0 }
  const { passed, failures } = await runGroup(group, process.env, HEAP_MB.quick)
  t.equal(passed, 1)
  t.match(failures, [
    { name: 'the process ended with 1', said: { printed: /a socket of its own was reset/ } },
    { name: /test unfinished/ },
  ])
})

t.test('a failure that did not come again is printed and not counted', async (t) => {
  const outcome = { name: 'test 2/2', passed: 3, skipped: 0, seconds: 1, peakMb: 1 }
  const failures = [{ name: 'clients > a socket was reset', said: { code: 'ECONNRESET' } }]
  const summary = writeSummary([{ ...outcome, failures: [] }], [{ ...outcome, failures }])
  t.match(summary, /passed alone, failed beside the others:\ntest 2\/2: clients > a socket was reset/)
  t.match(summary, /\n3 passed, 0 failed, 0 skipped$/)
  t.match(writeSummary([{ ...outcome, failures }]), /\n3 passed, 1 failed, 0 skipped$/)
})
