import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createKey, KEY_BYTES } from '#accounts'
import { openSqliteAccounts } from '../../src/stores/accounts/sqlite-accounts.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { openDatabase } from '../../src/stores/sqlite/open-database.ts'
import { ACCOUNT, ACCOUNTS_CONTRACT, makeKey } from '../accounts/contract.ts'
import { closeAfter, nextMessage, startChild, temporaryFolder } from './processes.ts'

for (const row of ACCOUNTS_CONTRACT) {
  t.test(`contract: ${row.name}`, async (t) => {
    const accounts = closeAfter(t, await openSqliteAccounts(join(await temporaryFolder(t), 'state.db')))
    await row.run(accounts, t)
  })
}

t.test('calls of one turn share a commit, and one of an unknown account fails alone', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const accounts = closeAfter(t, await openSqliteAccounts(path))
  for (const id of ['a', 'b']) await accounts.createAccount({ ...ACCOUNT, id })
  const spent = await Promise.allSettled(['a', 'nobody', 'b'].map((id) => accounts.spend(id, '2026-01-31', 2)))
  t.match(spent, [{ status: 'fulfilled' }, { status: 'rejected' }, { status: 'fulfilled' }])
  t.same([await accounts.usage('a', '2026-01-31'), await accounts.usage('b', '2026-01-31')], [1, 1])

  // Each commit writes the page that it has changed to the log.
  const { size: before } = await stat(`${path}-wal`)
  await Promise.all(Array.from({ length: 32 }, () => accounts.spend('a', '2026-01-31', 100)))
  const { size: after } = await stat(`${path}-wal`)
  t.ok(after - before < 4 * 4_200, `32 calls write ${after - before} bytes`)
})

t.test('many uses of keys are stored in several turns of the loop', async (t) => {
  const accounts = closeAfter(t, await openSqliteAccounts(join(await temporaryFolder(t), 'state.db')))
  const { key } = makeKey(1)
  await accounts.createAccount(ACCOUNT)
  await accounts.createKey(key)
  const at = '2026-02-01T00:00:00.000Z'
  let turns = 0
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  await accounts.recordUses([...Array(2_999).fill({ id: '00000000', at }), { id: key.id, at }])
  clearImmediate(next)
  t.ok(turns >= 3, `${turns} turns`)
  t.equal((await accounts.listKeys())[0]?.lastUsedAt, at)
})

t.test('no file holds a key, nor any part of its secret', async (t) => {
  const folder = await temporaryFolder(t)
  const accounts = await openSqliteAccounts(join(folder, 'state.db'))
  const { text, record } = createKey(randomBytes(KEY_BYTES))
  await accounts.createAccount(ACCOUNT)
  await accounts.createKey({ ...record, accountId: ACCOUNT.id, createdAt: '2026-01-31T00:00:00.000Z' })
  const search = async (found: string) => {
    const files = await readdir(folder)
    const contents = await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))
    return contents.some((content) => content.includes(found))
  }
  t.equal(await search(record.hash), true, 'the search finds what is stored')
  for (const part of [text, text.slice(12), text.slice(12, 24), text.slice(-16)]) t.equal(await search(part), false)
  accounts.close()
  t.equal(await search(text.slice(12)), false, 'nor after the log is folded in')
})

t.test('every opening has a write-ahead log and a full sync', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  for (const opening of ['first', 'second']) {
    const database = await openDatabase(path, [])
    t.same({ ...database.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' }, opening)
    t.same({ ...database.prepare('PRAGMA synchronous').get() }, { synchronous: 2 }, opening)
    database.close()
  }
  await t.rejects(openDatabase('', []), /write-ahead log/, 'one that cannot have such a log')
})

t.test('opening waits for another connection that is in the way of the write-ahead log', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const reader = closeAfter(t, await connect(path, 0))
  reader.exec('CREATE TABLE a (x); BEGIN; SELECT * FROM a')
  let open = false
  const opening = openDatabase(path, []).then((database) => {
    open = true
    database.close()
  })
  await delay(60)
  t.equal(open, false)
  reader.exec('COMMIT')
  await opening
  t.equal(open, true)
})

t.test('a new step is run once, on the old rows, and one that fails leaves nothing', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const steps = ['CREATE TABLE a (x)', 'INSERT INTO a VALUES (1)']
  for (let opening = 0; opening < 3; opening++) (await openDatabase(path, steps)).close()
  await t.rejects(openDatabase(path, [...steps, 'CREATE TABLE b (x); nonsense']), /syntax/)
  const database = closeAfter(t, await openDatabase(path, [...steps, 'UPDATE a SET x = x + 10']))
  t.match(database.prepare('SELECT group_concat(x) AS x FROM a').get(), { x: '11' })
  t.match(database.prepare('SELECT group_concat(name) AS tables FROM sqlite_schema').get(), { tables: 'a' })
})

t.test('four processes creating and using one file are allowed exactly the limit', async (t) => {
  const path = join(await temporaryFolder(t), 'state.db')
  const limit = 150
  // Nothing made the file before: creating it is raced for as well.
  const children = Array.from({ length: 4 }, () => startChild(t, 'spend', path, String(limit), '60'))
  const allowed = (await Promise.all(children.map(nextMessage))).map(Number)
  const sum = allowed.reduce((sum, count) => sum + count, 0)
  t.equal(sum, limit)
  const accounts = closeAfter(t, await openSqliteAccounts(path))
  t.equal(await accounts.usage(ACCOUNT.id, ACCOUNT.signupDate), limit)
})
