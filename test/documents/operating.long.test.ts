import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Prefix, parseHostOrPrefix } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { missing } from '../clients/programs.ts'
import { NO_DATA } from '../no-data.ts'
import { makeFolder } from '../started.ts'
import { readFences } from './fences.ts'
import { shell } from './shell.ts'

/* The commands of packages/sallyport/docs/run.md are run as they are written there, against a service that goes on recording. */
const [BACKUP = '', DUMP = '', RESTORE = '', LOAD = ''] = readFences(['packages/sallyport/docs/run.md'])
  .filter(({ language }) => language === 'sh')
  // The document names the places of an installed service.
  .map(({ text }) => text.replace(/^DATA=.*\n/, ''))

const ADDRESS = parseHostOrPrefix('203.0.114.7') as Prefix

/** A service with an account, an override and records, from which `backUp` is taken while it records on. */
async function serve(dataDir: string, store: string | undefined, backUp: () => Promise<unknown>) {
  const options = { dataDir, data: { refresh: false, city: false, sources: NO_DATA }, ...(store && { store }) }
  const sallyport = await open(options, { onNotice: () => {} })
  const { key } = await sallyport.keyring.issue({ plan: 'business', name: 'a customer' })
  await sallyport.overrides.set(ADDRESS, { networkClass: 'vpn' })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const attest = () => sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer: '192.0.2.1' }), 'DE')
  for (let index = 0; index < 20; index++) await attest()
  await backUp()
  await attest()
  const keys = await sallyport.provenance.keys()
  await sallyport.close()
  return { key, keys, options }
}

type Served = Awaited<ReturnType<typeof serve>>

async function look(t: Test, served: Served, place: object) {
  const sallyport = await open({ ...served.options, ...place }, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  t.match(await sallyport.accounts.listAccounts(), [{ name: 'a customer' }], 'accounts')
  const headers = ['authorization', `Bearer ${served.key}`]
  const request = { peer: '192.0.2.9', method: 'GET', scheme: 'http', httpVersion: '1.1', fields: headers } as const
  const asked = { ...request, target: '/v1/user/limits', path: '/v1/user/limits', query: new URLSearchParams() }
  const answer = await sallyport.api({ ...asked, json: async () => undefined })
  t.equal(answer?.status, 200, 'the key is known')
  t.same((await sallyport.overrides.list()).length, 1, 'overrides')
  t.same(await sallyport.provenance.keys(), served.keys, 'the key that signs')
  t.ok(await sallyport.provenance.evidence('site', { attestationId: 20 }), 'the last record before the backup')
}

/** Puts a backup of a service into another folder, and looks into the service that opens there. */
async function restore(t: Test, folder: string, served: Served, backup: string, place: object) {
  const dataDir = join(folder, 'after')
  const config = join(folder, 'sallyport.yaml')
  writeFileSync(config, JSON.stringify({ ...served.options, ...place, dataDir }))
  const said = await shell(t, RESTORE, { DATA: dataDir, BACKUP: backup, CONFIG: config })
  t.match(said, /^Good: \d+ records in 2 logs/)
  await look(t, served, { ...place, dataDir })
}

t.test('SQLite: a backup of a running service is restored', { skip: missing('sqlite3') }, async (t) => {
  const folder = makeFolder(t)
  const [before, backup] = [join(folder, 'before'), join(folder, 'backup')]
  const served = await serve(before, undefined, () => shell(t, BACKUP, { DATA: before, BACKUP: backup }))
  await restore(t, folder, served, backup, {})
})

const noPostgres = NO_POSTGRES || ['sqlite3', 'pg_dump', 'pg_restore'].map((name) => missing(name)).find(Boolean)

t.test('PostgreSQL: a dump of a running service is restored', { skip: noPostgres || false }, async (t) => {
  const postgres = await startPostgres(t)
  const folder = makeFolder(t)
  const [before, backup] = [join(folder, 'before'), join(folder, 'backup')]
  const [store, restored] = [await postgres.database(), await postgres.database()]
  const served = await serve(before, store, async () => {
    await shell(t, BACKUP, { DATA: before, BACKUP: backup })
    await shell(t, DUMP, { BACKUP: backup, STORE: store })
  })
  await shell(t, LOAD, { BACKUP: backup, STORE: restored })
  await restore(t, folder, served, backup, { store: restored })
})
