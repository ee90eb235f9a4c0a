import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Prefix, parseHostOrPrefix } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { NO_DATA } from '../no-data.ts'
import { ROOT } from '../workspaces.ts'
import { readFences } from './fences.ts'

/* The commands of packages/sallyport/docs/run.md are run as they are written there, against a service that goes on recording. */
const [BACKUP = '', DUMP = '', RESTORE = '', LOAD = ''] = readFences(['packages/sallyport/docs/run.md'])
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text)

const missing = (...names: readonly string[]) => {
  const some = names.filter((name) => spawnSync(name, ['--version']).error !== undefined)
  return some.length > 0 && `no ${some.join(', no ')}`
}

const ADDRESS = parseHostOrPrefix('203.0.114.7') as Prefix

type Env = Readonly<Record<string, string>>

function shell(t: Test, script: string, env: Env): string {
  // The document names the places of an installed service.
  const text = script.replace(/^DATA=.*\n/, '')
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', text], {
    env: { ...process.env, PATH, ...env },
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  return stdout
}

function chooseFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-operating-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A service with an account, an override and records, from which `backUp` is taken while it records on. */
async function serve(dataDir: string, store: string | undefined, backUp: () => void) {
  const options = { dataDir, data: { refresh: false, city: false, sources: NO_DATA }, ...(store && { store }) }
  const sallyport = await open(options, { onNotice: () => {} })
  const { key } = await sallyport.keyring.issue({ plan: 'business', name: 'a customer' })
  await sallyport.overrides.set(ADDRESS, { networkClass: 'vpn' })
  const request = { method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  const attest = () => sallyport.provenance.attestDecision(sallyport.decide({ ...request, peer: '192.0.2.1' }), 'DE')
  for (let index = 0; index < 20; index++) await attest()
  backUp()
  await attest()
  const keys = await sallyport.provenance.keys()
  await sallyport.close()
  return { key, keys, options }
}

async function look(t: Test, served: Awaited<ReturnType<typeof serve>>, place: object) {
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

t.test('SQLite: a backup of a running service is restored', { skip: missing('sqlite3') }, async (t) => {
  const folder = chooseFolder(t)
  const [before, after, backup] = [join(folder, 'before'), join(folder, 'after'), join(folder, 'backup')]
  const served = await serve(before, undefined, () => shell(t, BACKUP, { DATA: before, BACKUP: backup }))
  const config = join(folder, 'sallyport.yaml')
  writeFileSync(config, JSON.stringify({ ...served.options, dataDir: after }))
  const said = shell(t, RESTORE, { DATA: after, BACKUP: backup, CONFIG: config })
  t.match(said, /^Good: \d+ records in 2 logs/)
  await look(t, served, { dataDir: after })
})

const noPostgres = NO_POSTGRES || missing('sqlite3', 'pg_dump', 'pg_restore')

t.test('PostgreSQL: a dump of a running service is restored', { skip: noPostgres }, async (t) => {
  const postgres = await startPostgres(t)
  const folder = chooseFolder(t)
  const [before, after, backup] = [join(folder, 'before'), join(folder, 'after'), join(folder, 'backup')]
  const [store, restored] = [await postgres.database(), await postgres.database()]
  const served = await serve(before, store, () => {
    shell(t, BACKUP, { DATA: before, BACKUP: backup })
    shell(t, DUMP, { BACKUP: backup, STORE: store })
  })
  const config = join(folder, 'sallyport.yaml')
  writeFileSync(config, JSON.stringify({ ...served.options, dataDir: after, store: restored }))
  shell(t, LOAD, { BACKUP: backup, STORE: restored })
  const said = shell(t, RESTORE, { DATA: after, BACKUP: backup, CONFIG: config })
  t.match(said, /^Good: \d+ records in 2 logs/)
  await look(t, served, { dataDir: after, store: restored })
})
