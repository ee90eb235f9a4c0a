import { fork } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { connect, isBusy, isSafeSqlite } from '../../src/stores/sqlite/driver.ts'
import { ended, nextMessage, temporaryFolder } from './processes.ts'
import { WITHOUT_PACKAGE } from './without-package.ts'

t.test('the SQLite in use has the fix for logs written by several processes', async (t) => {
  const database = await connect(':memory:', 0)
  t.teardown(() => database.close())
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  t.ok(major * 1e6 + minor * 1e3 + patch >= 3_051_003, version)
})

t.test('the SQLite inside Node is used from the version on that has the fix', async (t) => {
  const versions = [undefined, '3.7.9', '3.47.2', '3.51.2', '3.51.3', '3.51.10', '4.0.0']
  t.same(
    versions.map((version) => isSafeSqlite(version)),
    [false, false, false, false, true, true, true],
  )
})

t.test('the package is loaded where Node has none that is safe, and nowhere else', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const child = fork(join(import.meta.dirname, 'child.js'), ['observe', path, '192.0.2.1'], {
    silent: true,
    execArgv: [...WITHOUT_PACKAGE],
  })
  let written = ''
  child.stderr?.on('data', (chunk) => (written += chunk))
  if (isSafeSqlite(process.versions['sqlite'])) {
    t.equal(await nextMessage(child), 'put')
    child.send('go on')
    return ended(child)
  }
  await ended(child).catch(() => undefined)
  t.match(
    written,
    `Node ${process.versions.node} has no SQLite of version 3.51.3 or newer: npm install @photostructure/sqlite`,
  )
})

t.test('no warning is written for the SQLite in use', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const child = fork(join(import.meta.dirname, 'child.js'), ['observe', path, '192.0.2.1'], { silent: true })
  const written: string[] = []
  child.stderr?.on('data', (chunk) => written.push(String(chunk)))
  t.equal(await nextMessage(child), 'put')
  child.send('go on')
  await ended(child)
  t.same(written, [])
})

t.test('a lock held elsewhere is distinguished from every other error', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const one = await connect(path, 0)
  const two = await connect(path, 0)
  t.teardown(() => [one, two].map((database) => database.close()))
  one.exec('BEGIN EXCLUSIVE')
  const readError = (sql: string) => {
    try {
      two.exec(sql)
      return undefined
    } catch (error) {
      return error
    }
  }
  t.equal(isBusy(readError('BEGIN EXCLUSIVE')), true)
  t.equal(isBusy(readError('nonsense')), false)
  t.equal(isBusy(new Error('database is locked')), false)
  t.equal(isBusy('busy'), false)
})
