import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, start, workspace } from './command.ts'

const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

t.test('doctor says what is good and what is not, with what to do, and exits 1 where something fails', async (t) => {
  const { folder, config } = workspace(t, [
    `listen: 127.0.0.1:${await freePort()}`,
    `admin: 127.0.0.1:${await freePort()}`,
    'dns: { servers: ["127.0.0.1:9"], timeoutMs: 50 }',
  ])
  const { code, out, err } = await run('doctor', '--config', config)
  t.equal(code, 1)
  t.equal(err, '')
  t.match(out, /^ok {4}dataDir {4}\S+ is not there; the first start makes it\.$/m)
  t.match(out, /^fail {2}dns {8}No answer from 127\.0\.0\.1:9 within 50 ms: \w+\.\n {17}\S.*dns\.servers/m)
  const { ok, findings } = JSON.parse((await run('doctor', '--json', '--config', config)).out)
  t.equal(ok, false)
  t.ok(
    findings.every(
      ({ state, advice }: { state: string; advice?: string | undefined }) => state === 'ok' || advice !== undefined,
    ),
  )

  const site = await run('doctor', '--config', config, '--site', `http://127.0.0.1:${await freePort()}`)
  t.match(site.out, /^fail {2}challenge {2}http:\S+pass does not reach the gate: nothing listens there, nor does http/m)
  t.equal((await run('doctor', '--config', config, '--site', 'site.example')).code, 2)

  const proxy = start(t, ['proxy', '--config', config])
  await proxy.says('Listening on')
  const beside = (await run('doctor', '--config', config)).out
  t.match(beside, /^ok {4}listeners {2}listen: \S+ is in use, and a Sallyport runs here\.$/m)
  t.match(beside, /^ok {4}listeners {2}admin: \S+ is in use, and a Sallyport runs here\.$/m)
  proxy.child.kill('SIGINT')
  await proxy.ended

  chmodSync(folder, 0o755)
  rmSync(join(folder, 'data'), { recursive: true })
  mkdirSync(join(folder, 'data'), { mode: 0o555 })
  const nobody = start(t, ['doctor', '--config', config], {}, NOBODY)
  t.equal(await nobody.ended, 1)
  t.match(nobody.out(), /^fail {2}dataDir {4}dataDir: \S+ cannot be written: user \d+ does not have the right\.$/m)
})
