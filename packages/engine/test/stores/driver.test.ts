import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { connect, hasGoodSqlite, isBusy } from '../../src/stores/sqlite/driver.ts'
import { ended, nextMessage, temporaryFolder } from './processes.ts'

t.test('the SQLite in use has the fix for logs written by several processes', async (t) => {
  const database = await connect(':memory:', 0)
  t.teardown(() => database.close())
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  t.ok(major * 1e6 + minor * 1e3 + patch >= 3_051_003, version)
})

t.test('the packaged SQLite is for the versions of Node that npm installs it on, and for no others', async (t) => {
  const good = (node: string, sqlite?: string) => hasGoodSqlite({ node, sqlite })
  t.same([good('20.20.2'), good('22.23.3', '3.53.4'), good('24.9.0', '3.50.4')], [false, false, false])
  t.same([good('24.21.0', '3.51.3'), good('26.10.0', '3.53.4')], [true, true])
  const manifest = join(import.meta.dirname, '../../../../sqlite/package.json')
  const { engines } = JSON.parse(readFileSync(manifest, 'utf8'))
  const end = /^\^20\.19 \|\| >=22\.13 <24\.(\d+) \|\| \^25$/.exec(engines.node)?.[1]
  t.ok(end, engines.node)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const installed = major < 24 || major === 25 || (major === 24 && minor < Number(end))
  t.equal(hasGoodSqlite(process.versions), !installed, 'this Node')
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
  const errorOf = (sql: string) => {
    try {
      two.exec(sql)
      return undefined
    } catch (error) {
      return error
    }
  }
  t.equal(isBusy(errorOf('BEGIN EXCLUSIVE')), true)
  t.equal(isBusy(errorOf('nonsense')), false)
  t.equal(isBusy(new Error('database is locked')), false)
  t.equal(isBusy('busy'), false)
})
