import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { open } from '../../src/open/index.ts'
import { inDataDir } from '../../src/service/data-dir.ts'
import { NO_SOURCES } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'

const DATA = { refresh: false, city: false, sources: NO_SOURCES }

t.test('errors of the disk and SQLite in use are one sentence too', async (t) => {
  const dataDir = t.testdir()
  const config = { dataDir, data: { readOnly: false } }
  const failing = (error: object) => inDataDir(config, () => Promise.reject(Object.assign(new Error('raw'), error)))
  const rows: readonly (readonly [error: object, says: RegExp])[] = [
    [{ code: 'ENOSPC', path: join(dataDir, 'tables.tmp') }, /cannot be written: the disk is full$/],
    [{ code: 'ENOSPC' }, /cannot be written: the disk is full$/],
    [{ code: 'EDQUOT' }, /the quota of this user is used up$/],
    [{ code: 'EROFS' }, /its file system is read-only\. Set data\.readOnly: true to use prebuilt data$/],
    [{ message: 'database or disk is full' }, /the disk is full or failing$/],
    [{ message: 'attempt to write a readonly database' }, /has a database that cannot be written/],
  ]
  for (const [error, message] of rows) {
    await t.rejects(failing(error), { code: 'data_dir_unusable', message }, JSON.stringify(error))
  }
  for (const path of ['/elsewhere/key.pem', `${dataDir}-2/state.db`])
    await t.rejects(failing({ code: 'EACCES', path }), { message: 'raw' }, `about another file, ${path}`)
  await t.rejects(failing({}), { message: 'raw' }, 'a bug stays one')
})

const OPEN_AND_LOG = `
process.umask(0)
const { open } = await import(process.argv[2])
const [dataDir, file, data] = process.argv.slice(3)
const sallyport = await open({ dataDir, data: JSON.parse(data), log: { file } })
await sallyport.provenance.keys()
await sallyport.close()
`

const skip = process.platform === 'win32'

t.test('what is written is of this user alone, whatever the umask', { skip }, async (t) => {
  const root = t.testdir({ 'open.mjs': OPEN_AND_LOG })
  const [dataDir, logs] = [join(root, 'data'), join(root, 'logs')]
  const index = new URL('../../src/open/index.js', import.meta.url).href
  const rest = [dataDir, join(logs, 'log'), JSON.stringify(DATA)]
  await promisify(execFile)(process.execPath, [join(root, 'open.mjs'), index, ...rest])
  const made = [dataDir, logs].flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
  ])
  t.ok(made.length > 4)
  for (const path of made) t.equal(statSync(path).mode & 0o077, 0, path)
})

t.test('with data.readOnly nothing is attested, and nobody has a key', async (t) => {
  const dataDir = t.testdir()
  const prebuilt = { dataDir, data: { ...DATA, readOnly: true } }
  await t.rejects(open(prebuilt), { code: 'missing_data', message: /data compile/ })
  await (await open({ dataDir, data: DATA })).close()
  const sallyport = await openService(t, prebuilt)
  await t.rejects(sallyport.provenance.keys(), { code: 'attestation_unavailable', message: /data\.readOnly/ })
  t.strictSame(await sallyport.accounts.listAccounts(), [])
})
