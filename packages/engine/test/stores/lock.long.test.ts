import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { withLock } from '../../src/stores/index.ts'
import { ended, nextMessage, startChild, temporaryFolder } from './processes.ts'

t.test('a task gives its result or its error, and the lock is free again', async (t) => {
  const path = join(await temporaryFolder(t), 'new', 'folder', 'compile.lock')
  t.equal(await withLock(path, async () => 42), 42)
  const failing = () => Promise.reject(new Error('the task failed'))
  await t.rejects(withLock(path, failing), /the task failed/)
  t.equal(await withLock(path, async () => 43), 43)
})

t.test('tasks of one process run one after another', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  let inside = 0
  let most = 0
  const task = async () => {
    most = Math.max(most, ++inside)
    await delay(10)
    inside--
  }
  await Promise.all([withLock(path, task), withLock(path, task), withLock(path, task)])
  t.equal(most, 1)
})

for (const end of ['leaves', 'is killed']) {
  t.test(`another process waits until the holder ${end}`, async (t) => {
    const path = join(await temporaryFolder(t), 'compile.lock')
    const holder = startChild(t, 'lock', path)
    t.equal(await nextMessage(holder), 'started')
    t.equal(await nextMessage(holder), 'locked')
    const waiter = startChild(t, 'lock', path)
    t.equal(await nextMessage(waiter), 'started')
    t.equal(await nextMessage(waiter), 'waiting')
    if (end === 'leaves') {
      holder.send('leave')
      t.equal(await nextMessage(holder), 'leaving')
    } else holder.kill('SIGKILL')
    t.equal(await nextMessage(waiter), 'locked')
    waiter.send('leave')
    await Promise.all([ended(holder), ended(waiter)])
    t.equal(await withLock(path, async () => 'free'), 'free')
  })
}

t.test('a lock that cannot be made is an error, not a wait', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  await mkdir(path)
  await t.rejects(withLock(path, async () => {}))
})
