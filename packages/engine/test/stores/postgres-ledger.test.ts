import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Committer, createCommitter, readHead } from '@sallyport/ledger'
import { LEDGER_CONTRACT, madeDraft, placeBatch } from '@sallyport/ledger/testing'
import t, { type Test } from 'tap'
import { openPostgres, openPostgresLedger } from '../../src/stores/index.ts'
import type { Postgres } from '../../src/stores/postgres/pool.ts'
import { NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { findFault, listMissing, openLedgerOn } from './ledger-place.ts'
import { sharedPostgres } from './postgres-server.ts'
import { closeAfter, ended, temporaryFolder } from './processes.ts'

/** `npm run fault` takes a longer time. */
const FROZEN_MS = process.env['TEST_LENGTH'] === 'full' ? 10_000 : 1_000

/** A store with three records in `t/a`, and a committer that knows its heads. */
async function openAlone(t: Test, url: string) {
  const store = await openPostgresLedger(url)
  const postgres = await openPostgres(url)
  t.teardown(() => Promise.all([store.close(), postgres.close()]))
  const committer = createCommitter(store)
  for (let count = 0; count < 3; count++) await committer.commit([madeDraft('t/a')])
  return { store, postgres, committer }
}

/** Waits until a statement waits for a lock in the database, and returns it. */
async function findWaiting({ query }: Postgres): Promise<string> {
  for (;;) {
    const { rows } = await query(
      `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
    if (rows[0] !== undefined) return String(rows[0]['query'])
    await delay(5)
  }
}

/** Appends a record while `work` holds the lock of the head, and gives the statement that waited. */
async function appendBehind({ committer, postgres }: Awaited<ReturnType<typeof openAlone>>, work: string) {
  let appending: ReturnType<Committer['commit']> | undefined
  const waited = await postgres.transaction(async (query) => {
    await query('SELECT FROM ledger FOR UPDATE')
    appending = committer.commit([madeDraft('t/a')])
    const statement = await findWaiting(postgres)
    await query(work)
    return statement
  })
  return { waited, places: await appending }
}

/** How much there is of all that an append writes. */
async function listCounts({ query }: Postgres): Promise<unknown> {
  const { rows } = await query(
    `SELECT (SELECT next_id FROM ledger) AS next, (SELECT max(size) FROM ledger_log) AS size,
            (SELECT count(*) FROM ledger_record) AS records, (SELECT count(*) FROM ledger_subject) AS subjects`,
  )
  return rows[0]
}

t.test('PostgreSQL keeps the ledger', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()

  for (const row of LEDGER_CONTRACT) {
    await t.test(`contract: ${row.name}`, async (t) => {
      const store = closeAfter(t, await openPostgresLedger(await server.database()))
      await row.run(store, t)
    })
  }

  await t.test('nodes of their own append to one ledger', async (t) => {
    const url = await server.database()
    const folders = await Promise.all([1, 2].map(() => temporaryFolder(t)))
    const children = folders.map((folder) => fork(join(import.meta.dirname, 'ledger-child.js'), [folder, '200', url]))
    const given: number[] = []
    for (const child of children) child.on('message', (id) => given.push(Number(id)))
    await Promise.all(children.map(ended))
    for (const { exitCode } of children) t.equal(exitCode, 0)
    t.equal(new Set(given).size, 400)
    const store = closeAfter(t, await openPostgresLedger(url))
    t.equal((await readHead(store, 't/a'))?.size, 400)
    t.same(await listMissing(store, given), [])
    for (const folder of folders) t.equal(await findFault(store, folder), undefined)
  })

  await t.test('a race that is lost is run again behind a reservation, and writes once', async (t) => {
    const alone = await openAlone(t, await server.database())
    const lost = await appendBehind(alone, 'UPDATE ledger SET next_id = next_id + 5')
    t.match(lost.waited, /WITH moved/, 'in one statement')
    t.same(lost.places, [{ attestationId: 9, seq: 3 }])
    t.same(await listCounts(alone.postgres), { next: 10, size: 4, records: 4, subjects: 4 })
    const next = await appendBehind(alone, 'SELECT')
    t.match(next.waited, /FOR UPDATE/, 'the next one queues for the lock')
    t.same(next.places, [{ attestationId: 10, seq: 4 }])
    t.match((await appendBehind(alone, 'SELECT')).waited, /WITH moved/, 'until the node is alone again')
  })

  await t.test('an append that waits for a checkpoint continues when that is kept', async (t) => {
    const alone = await openAlone(t, await server.database())
    const { waited, places } = await appendBehind(alone, 'UPDATE ledger_log SET covered = 3')
    t.match(waited, /WITH moved/)
    t.same(places, [{ attestationId: 4, seq: 3 }])
    t.same(await listCounts(alone.postgres), { next: 5, size: 4, records: 4, subjects: 4 })
    t.match(await alone.store.uncovered(1), [{ size: 4, covered: 3 }])
  })

  await t.test('an append is synchronous, whatever the database says', async (t) => {
    const url = await server.database()
    const { postgres } = await openAlone(t, url)
    await postgres.query(`
      CREATE TABLE seen (setting text);
      CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TRIGGER look AFTER INSERT ON ledger_record EXECUTE FUNCTION look();
      DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`)
    const { store, committer, postgres: later } = await openAlone(t, url)
    await committer.commit([madeDraft('t/a')])
    const reserved = await store.heads(['t/a'], true)
    t.equal(await store.commit(placeBatch(store.origin, [madeDraft('t/a')], reserved), reserved), true)
    t.same((await later.query('SHOW synchronous_commit')).rows, [{ synchronous_commit: 'off' }])
    const { rows } = await later.query('SELECT setting, count(*) AS appends FROM seen GROUP BY setting')
    t.same(rows, [{ setting: 'on', appends: 5 }], 'in one statement and behind a reservation')
  })

  const tampering = {
    link: `UPDATE ledger_log SET link = '${'0'.repeat(64)}'`,
    size: 'UPDATE ledger_log SET size = 4',
    'row, which is gone,': 'DELETE FROM ledger_log',
  }
  for (const [what, statement] of Object.entries(tampering)) {
    await t.test(`a head whose ${what} is not what was written is refused, and nothing is written`, async (t) => {
      const { committer, postgres } = await openAlone(t, await server.database())
      await postgres.query(statement)
      const before = await listCounts(postgres)
      await t.rejects(committer.commit([madeDraft('t/a')]), /Heads as they were known: 0/)
      t.same(await listCounts(postgres), before)
    })
  }

  await t.test(`stopped, and frozen for ${FROZEN_MS} ms: unavailable, and then on with the same chain`, async (t) => {
    const folder = await temporaryFolder(t)
    const store = closeAfter(t, await openPostgresLedger(await server.database()))
    const { attest } = await openLedgerOn(store, folder)
    const given = [await attest()]

    await server.stop()
    await t.rejects(attest(), { name: 'LedgerUnavailable' }, 'stopped')
    await server.restart()
    given.push(await attest())

    server.freeze()
    const during = Array.from({ length: 20 }, () => attest())
    const [outcomes] = await Promise.all([Promise.allSettled(during), delay(FROZEN_MS)])
    for (const { status } of outcomes) t.equal(status, 'rejected', 'frozen: none waits on')
    server.thaw()
    given.push(await attest(), await attest())

    await server.kill()
    await t.rejects(attest(), { name: 'LedgerUnavailable' }, 'killed')
    await server.restart()
    given.push(await attest())
    t.same(await listMissing(store, given), [], 'every id given out has its record')
    t.equal(await findFault(store, folder), undefined, 'and the chain is whole')
  })
})
