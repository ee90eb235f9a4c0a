import { fork } from 'node:child_process'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { loadInstalled } from '../../src/stores/load-installed.ts'
import { connect, isBusy, isSafeSqlite } from '../../src/stores/sqlite/driver.ts'
import { closeAfter, ended, nextMessage, temporaryFolder } from './processes.ts'

t.test('the SQLite in use has the fix for logs written by several processes', async (t) => {
  const database = closeAfter(t, await connect(':memory:', 0))
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  t.ok(major * 1e6 + minor * 1e3 + patch >= 3_051_003, version)
  const versions = [undefined, '3.7.9', '3.47.2', '3.51.2', '3.51.3', '3.51.10', '4.0.0']
  const isSafe = versions.map((version) => isSafeSqlite(version))
  t.same(isSafe, [false, false, false, false, true, true, true], 'that inside Node is used from then on')
})

t.test('no warning is written for the SQLite in use', async (t) => {
  const counts = `sqlite:${join(await temporaryFolder(t), 'counts.db')}`
  const child = fork(join(import.meta.dirname, 'child.js'), ['count', counts, '1', '1'], { silent: true })
  const written: string[] = []
  child.stderr?.on('data', (chunk) => written.push(String(chunk)))
  t.equal(await nextMessage(child), 1)
  await ended(child)
  t.same(written, [])
})

t.test('a lock held elsewhere is distinguished from every other error', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const one = await connect(path, 0)
  const two = await connect(path, 0)
  t.teardown(() => [one, two].map((database) => database.close()))
  one.exec('BEGIN EXCLUSIVE')
  const isBusyFor = (sql: string) => {
    try {
      return two.exec(sql)
    } catch (error) {
      return isBusy(error)
    }
  }
  t.equal(isBusyFor('BEGIN EXCLUSIVE'), true)
  t.equal(isBusyFor('nonsense'), false)
  t.equal(isBusy(new Error('database is locked')), false)
  t.equal(isBusy('busy'), false)
})

t.test('a package that is not installed is named with its command, and any other fault stays what it is', async (t) => {
  const name: string = 'sallyport-has-no-such-driver'
  const message = `The configuration needs the package ${name}, which is not installed: npm install ${name}`
  const load = () => loadInstalled(name, () => import(name))
  await t.rejects(load, new SallyportError('package_missing', message, { package: name }))
  const missing: string = './no-such-file.js'
  await t.rejects(
    loadInstalled('pg', () => import(missing)),
    { code: 'ERR_MODULE_NOT_FOUND' },
  )
})
