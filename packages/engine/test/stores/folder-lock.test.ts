import { mkdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFolderLock, DEAD_AFTER_MS } from '../../src/stores/sqlite/folder-lock.ts'

t.test('a lock without SQLite has one holder until the holder gives it back or dies', async (t) => {
  const path = join(t.testdir(), 'compile.lock')
  const [one, other] = [createFolderLock(path), createFolderLock(path)]
  t.equal(await one.take(), true)
  t.equal(await other.take(), false)
  await other.release()
  t.equal(await createFolderLock(path).take(), false, 'who does not hold it cannot give it back')
  await one.release()
  t.equal(await other.take(), true)
  await other.release()
  const dead = new Date(Date.now() - DEAD_AFTER_MS - 1_000)
  t.teardown(() => Promise.all([one.release(), other.release()]))
  await one.take()
  utimesSync(`${path}.held`, dead, dead)
  while (statSync(`${path}.held`).mtimeMs <= dead.getTime()) await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await other.take(), false, 'the holder has renewed it')
  await one.release()
  mkdirSync(`${path}.held`)
  utimesSync(`${path}.held`, dead, dead)
  t.equal(await other.take(), true, 'the lock of a process that died is taken over')
})
