import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfigFrom } from '@sallyport/engine'
import t from 'tap'
import { FRAMEWORKS, readApplication } from '../../src/cli/init/frameworks.ts'
import { PROTECTIONS } from '../../src/cli/init/settings.ts'
import { BIN, makeFolder, run } from './command.ts'

const runIn = (cwd: string, ...argv: readonly string[]) =>
  spawnSync(process.execPath, [BIN, 'init', ...argv], { cwd, input: '', encoding: 'utf8' })

t.test('without a terminal the missing flags are named, and nothing is written', async (t) => {
  const folder = makeFolder(t)
  const none = runIn(folder)
  t.match(none, { status: 1, stdout: '', stderr: /^sallyport: .*--protect, --framework, --front.*--log FILE/ })
  const one = runIn(folder, '--protect', 'api', '--front', 'none')
  t.match(one, { status: 1, stderr: /Pass --framework too/ })
  for (const [flag, value, says] of [
    ['--protect', 'shop', /"shop" is not a choice: site, api, login, everything\./],
    ['--framework', 'rails', /"rails" is not a choice: express, .*proxy\./],
    ['--front', 'cloudfare', /did you mean "cloudflare"/],
    ['--front', '0.0.0.0/0', /would let any client forge its address/],
    ['--target', 'http://a/path', /'http:\/\/a\/path' is invalid\. It must be an origin/],
  ] as const)
    t.match(await run('init', flag, value), { code: 2, out: '', err: says })
  const all = ['--protect', 'site', '--framework', 'proxy', '--front', 'nothing']
  t.match(runIn(folder, ...all, '--config', 'no/where.yaml'), { status: 1, stderr: /no\/where\.yaml/ })
  t.same(readdirSync(folder), [])
  const { out } = await run('init', '--help')
  for (const { name } of [...PROTECTIONS, ...FRAMEWORKS]) t.match(out, new RegExp(`--.*\\b${name}\\b`), name)
})

t.test('a file that exists is replaced with --force alone', async (t) => {
  const folder = makeFolder(t)
  const file = join(folder, 'sallyport.yaml')
  writeFileSync(file, 'mode: enforce\n')
  const all = ['--protect', 'login', '--framework', 'proxy', '--front', 'private']
  t.match(runIn(folder, ...all), { status: 1, stdout: '', stderr: /sallyport\.yaml exists\. Use --force/ })
  t.equal(readFileSync(file, 'utf8'), 'mode: enforce\n')
  t.match(runIn(folder, ...all, '--config', 'other.yaml').stdout, 'npx sallyport proxy --config other.yaml')
  t.match(runIn(folder, ...all, '--force', '--target', 'http://[::1]:4000'), { status: 0 })
  t.match(readConfigFrom({ file }).config, { mode: 'monitor', upstream: 'http://[::1]:4000' })
  const written = readdirSync(folder).filter((name) => name.includes('yaml'))
  t.same(written, ['other.yaml', 'sallyport.yaml'])
  const koa = ['--protect', 'login', '--framework', 'koa', '--front', 'private']
  t.match(runIn(folder, ...koa), { status: 0 }, 'nothing is written')
})

t.test('package.json shows the framework, the kind of module and the start', async (t) => {
  const folder = makeFolder(t)
  const show = (manifest: unknown) => {
    writeFileSync(join(folder, 'package.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest))
    return readApplication(folder)
  }
  const unknown = { framework: 'proxy', isModule: false, isTyped: false, start: 'node app.js' }
  for (const manifest of ['{', '[]', 'null', '{"dependencies":null,"scripts":7}', { dependencies: { next: '16' } }])
    t.same(show(manifest), unknown)
  rmSync(join(folder, 'package.json'))
  t.same(readApplication(folder), unknown)
  for (const { name, shownBy } of FRAMEWORKS)
    for (const dependency of shownBy) t.equal(show({ dependencies: { [dependency]: '*' } }).framework, name)
  t.match(show({ type: 'module', main: 'server.js' }), { isModule: true, start: 'node server.js' })
  t.match(show({ scripts: { dev: 'vite', start: 'node .' } }), { start: 'npm start' })
  t.match(show({ scripts: { dev: 'vite' } }), { start: 'npm run dev' })
  writeFileSync(join(folder, 'tsconfig.json'), '{}')
  t.match(readApplication(folder), { isTyped: true })
})
