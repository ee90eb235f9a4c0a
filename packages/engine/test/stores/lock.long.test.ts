import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { withLock } from '../../src/stores/index.ts'
import { ended, nextMessage, startChild, temporaryFolder } from './processes.ts'

t.test('a task gives its result or its error, and the lock is free again', async (t) => {
  const path = join(await temporaryFolder(t), 'new', 'folder', 'compile.lock')
  t.equal(await withLock(path, async () => 42), 42)
  await t.rejects(
    withLock(path, async () => {
      throw new Error('the task failed')
    }),
    /the task failed/,
  )
  t.equal(await withLock(path, async () => 43), 43)
})

t.test('tasks of one process run one after another, and the event loop lives', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  let inside = 0
  let most = 0
  let turns = 0
  const ticking = setInterval(() => turns++, 5)
  t.teardown(() => clearInterval(ticking))
  const task = async () => {
    most = Math.max(most, ++inside)
    // Until timers have run: other tasks wait without standing still.
    for (const before = turns; turns < before + 2; ) await delay(5)
    inside--
  }
  await Promise.all([withLock(path, task), withLock(path, task), withLock(path, task)])
  t.equal(most, 1)
})

t.test('onWait is called once where the lock is held', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  let waits = 0
  const onWait = () => {
    waits++
  }
  await withLock(path, async () => {}, { onWait })
  t.equal(waits, 0)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = withLock(path, () => held)
  await delay(20)
  const second = withLock(path, async () => {}, { onWait })
  while (waits === 0) await delay(5)
  await delay(150)
  t.equal(waits, 1)
  release()
  await Promise.all([first, second])
})

t.test('an aborted call waits no longer, and the holder continues', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = withLock(path, () => held)
  await delay(20)
  const closing = new AbortController()
  const reason = new Error('closed')
  let ran = false
  const task = async () => {
    ran = true
  }
  await t.rejects(withLock(path, task, { signal: closing.signal, onWait: () => closing.abort(reason) }), reason)
  await t.rejects(withLock(path, task, { signal: closing.signal }), reason)
  t.equal(ran, false)
  release()
  await first
  t.equal(await withLock(path, async () => 'free', { signal: new AbortController().signal }), 'free')
})

t.test('another process waits until the holder leaves', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  const holder = startChild(t, 'lock', path)
  t.equal(await nextMessage(holder), 'started')
  t.equal(await nextMessage(holder), 'locked')
  const waiter = startChild(t, 'lock', path)
  t.equal(await nextMessage(waiter), 'started')
  t.equal(await nextMessage(waiter), 'waiting')
  holder.send('leave')
  t.equal(await nextMessage(holder), 'leaving')
  t.equal(await nextMessage(waiter), 'locked')
  waiter.send('leave')
  await Promise.all([ended(holder), ended(waiter)])
})

t.test('kill -9 of the holder gives the lock to the next', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  const holder = startChild(t, 'lock', path)
  t.equal(await nextMessage(holder), 'started')
  t.equal(await nextMessage(holder), 'locked')
  const waiter = startChild(t, 'lock', path)
  t.equal(await nextMessage(waiter), 'started')
  t.equal(await nextMessage(waiter), 'waiting')
  holder.kill('SIGKILL')
  t.equal(await nextMessage(waiter), 'locked')
  waiter.send('leave')
  await ended(waiter)
  t.equal(await withLock(path, async () => 'free'), 'free')
})

t.test('a lock that cannot be made is an error, not a wait', async (t) => {
  const path = join(await temporaryFolder(t), 'compile.lock')
  await mkdir(path)
  await t.rejects(withLock(path, async () => {}))
})
