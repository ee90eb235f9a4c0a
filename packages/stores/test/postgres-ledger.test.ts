import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LEDGER_CONTRACT } from '@sallyport/ledger/testing'
import t from 'tap'
import { openPostgresLedger } from '../src/index.ts'
import { NO_POSTGRES, startPostgres } from '../src/testing/index.ts'
import { faultOf, missingOf, openLedgerOn } from './ledger-place.ts'
import { ended, temporaryFolder } from './processes.ts'

/** `npm run fault` asks for ten seconds. */
const FROZEN_MS = Number(process.env['SALLYPORT_FAULT_FROZEN_MS'] ?? 1_000)

t.test('PostgreSQL keeps the ledger', { skip: NO_POSTGRES }, async (t) => {
  const server = await startPostgres(t)

  for (const row of LEDGER_CONTRACT) {
    await t.test(`contract: ${row.name}`, async (t) => {
      const store = await openPostgresLedger(await server.database())
      t.teardown(() => store.close())
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
    t.same(
      children.map(({ exitCode }) => exitCode),
      [0, 0],
    )
    t.equal(new Set(given).size, 400)
    const store = await openPostgresLedger(url)
    t.teardown(() => store.close())
    t.equal((await store.head('t/a'))?.size, 400)
    t.same(await missingOf(store, given), [])
    for (const folder of folders) t.equal(await faultOf(store, folder), undefined)
  })

  await t.test(`stopped, and frozen for ${FROZEN_MS} ms: unavailable, and then on with the same chain`, async (t) => {
    const folder = await temporaryFolder(t)
    const store = await openPostgresLedger(await server.database())
    t.teardown(() => store.close())
    const { attest } = await openLedgerOn(store, folder)
    const given = [await attest()]

    await server.stop()
    await t.rejects(attest(), { name: 'LedgerUnavailable' }, 'stopped')
    await server.restart()
    given.push(await attest())

    server.freeze()
    const during = Array.from({ length: 20 }, () => attest())
    const [outcomes] = await Promise.all([Promise.allSettled(during), delay(FROZEN_MS)])
    t.same(new Set(outcomes.map(({ status }) => status)), new Set(['rejected']), 'frozen: all are told, none waits on')
    server.thaw()
    given.push(await attest(), await attest())

    await server.kill()
    await t.rejects(attest(), { name: 'LedgerUnavailable' }, 'killed')
    await server.restart()
    given.push(await attest())
    t.same(await missingOf(store, given), [], 'every id given out has its record')
    t.equal(await faultOf(store, folder), undefined, 'and the chain is whole')
  })
})
