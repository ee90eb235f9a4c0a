import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { freePort, listening } from '@sallyport/engine/testing'
import t from 'tap'
import { finish, NOBODY, start, workspace } from './command.ts'

t.test('doctor says what is good and what is not, with what to do, and exits 1 where something fails', async (t) => {
  const { command, object, config, folder } = workspace(t, [
    `listen: 127.0.0.1:${await freePort()}`,
    `admin: 127.0.0.1:${await freePort()}`,
    'dns: { servers: ["127.0.0.1:9"], timeoutMs: 50 }',
  ])
  const { code, out, err } = await command('doctor')
  t.equal(code, 1)
  t.equal(err, '')
  t.match(out, /^ok {4}dataDir {4}\S+ does not exist yet; the first start creates it\.$/m)
  t.match(out, /^fail {2}dns {8}No response from 127\.0\.0\.1:9 within 50 ms: \w+\.\n {17}\S.*dns\.servers/m)
  const { ok, findings } = await object('doctor')
  t.equal(ok, false)
  for (const { state, advice } of findings) t.ok(state === 'ok' || advice !== undefined)

  const site = await command('doctor', '--site', `http://127.0.0.1:${await freePort()}`)
  t.match(site.out, /^fail {2}challenge {2}http:\S+pass does not reach the gate: nothing listens there, nor does http/m)
  t.equal((await command('doctor', '--site', 'site.example')).code, 2)

  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'data'), { mode: 0o555 })
  const denied = /^fail {2}dataDir {4}dataDir: \S+ cannot be written: user \d+ lacks the permission\.$/m
  t.match(await finish(start(t, ['doctor', '--config', config], {}, NOBODY)), { code: 1, out: denied })
})

t.test('doctor asks the origin for a /v1 of its own, and config check asks nothing', async (t) => {
  let asked = 0
  const origin = createServer((req, res) => {
    asked += 1
    res.writeHead(req.url === '/v1' ? 200 : 404).end()
  })
  const { command } = workspace(t, [
    `upstream: http://127.0.0.1:${await listening(t, origin)}`,
    `listen: 127.0.0.1:${await freePort()}`,
    `admin: 127.0.0.1:${await freePort()}`,
  ])
  await command('config', 'check')
  t.equal(asked, 0)
  const own = /^warn {2}api {8}http:\S+ has its own \/v1, .*\n {17}Move the API of the gate with api: \{ base/m
  t.match((await command('doctor')).out, own)
})

t.test('a folder that is closed to this user is named, at the line of what is below it', async (t) => {
  const { folder, write } = workspace(t)
  const closed = join(folder, 'closed')
  mkdirSync(join(closed, 'deep'), { recursive: true })
  symlinkSync(join(closed, 'deep'), join(folder, 'leads'))
  chmodSync(folder, 0o755)
  chmodSync(closed, 0o600)
  t.teardown(() => chmodSync(closed, 0o700))
  const lines = [
    `dataDir: ${closed}/data/deep`,
    `log: { file: ${closed}/deep/x.log }`,
    `store: sqlite:${folder}/leads/state.db`,
    `data: { refresh: false, sources: { asn-csv-v4: { url: "file://${closed}/list" } } }`,
  ]
  const config = write('below.yaml', lines.join('\n'))
  const saidBy = async (...argv: readonly string[]): Promise<string> => {
    const { out, err } = await finish(start(t, [...argv, '--config', config], {}, NOBODY))
    return (out + err).replaceAll(folder, '')
  }
  const [checked, examined] = [await saidBy('config', 'check'), await saidBy('doctor')]
  for (const [line, key, found] of [
    [1, 'dataDir', '/closed cannot be accessed by this user'],
    [2, 'log.file', '/closed cannot be accessed by this user'],
    [3, 'store', '/leads leads into a folder that this user cannot access'],
    [4, 'data.sources.asn-csv-v4.url', '/closed/list cannot be accessed by this user'],
  ] as const) {
    t.match(checked, `warning: /below.yaml:${line}: ${key}: ${found}\n`, 'of this user alone')
    t.match(examined, ` ${found}.\n`)
  }
  t.notMatch(`${checked}${examined}`, /check could not run|bug in Sallyport/)
})
