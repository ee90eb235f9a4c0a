import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { open } from '../../src/open/index.ts'
import { inDataDir } from '../../src/service/data-dir.ts'

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

t.test(
  'what is written is of this user alone, whatever the umask',
  { skip: process.platform === 'win32' },
  async (t) => {
    const root = t.testdir({ 'open.mjs': OPEN_AND_LOG })
    const [dataDir, logs] = [join(root, 'data'), join(root, 'logs')]
    const ids = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6']
    const data = { refresh: false, city: false, sources: Object.fromEntries(ids.map((id) => [id, { enabled: false }])) }
    const index = new URL('../../src/open/index.js', import.meta.url).href
    const rest = [dataDir, join(logs, 'log'), JSON.stringify(data)]
    await promisify(execFile)(process.execPath, [join(root, 'open.mjs'), index, ...rest])
    const made = [dataDir, logs].flatMap((folder) => [
      folder,
      ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
    ])
    t.ok(made.length > 4)
    t.same(
      made.filter((path) => (statSync(path).mode & 0o077) !== 0),
      [],
    )
  },
)

t.test('with data.readOnly nothing is attested, and nobody has a key', async (t) => {
  const dataDir = t.testdir()
  const ids = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6']
  const sources = Object.fromEntries(ids.map((id) => [id, { enabled: false }]))
  const data = { refresh: false, city: false, sources }
  await t.rejects(open({ dataDir, data: { ...data, readOnly: true } }), {
    code: 'missing_data',
    message: /data compile/,
  })
  await (await open({ dataDir, data })).close()
  const sallyport = await open({ dataDir, data: { ...data, readOnly: true } })
  t.teardown(() => sallyport.close())
  await t.rejects(sallyport.provenance.keys(), { code: 'attestation_unavailable', message: /data\.readOnly/ })
  t.strictSame(await sallyport.accounts.listAccounts(), [])
})
