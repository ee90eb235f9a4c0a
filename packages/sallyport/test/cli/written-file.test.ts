import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, lstatSync, openSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { run, workspace } from './command.ts'

const BIN = join(import.meta.dirname, '../../../bin/sallyport.mjs')
const FULL = '/dev/full'
const NO_FULL = existsSync(FULL) && statSync(FULL).isCharacterDevice() ? false : 'no device that is always full'

t.test('data bundle writes into what is named', async (t) => {
  const { folder, config } = workspace(t)
  const bundle = (file: string) => run('data', 'bundle', file, '--config', config)
  const file = join(folder, 'networks.bundle')
  const link = join(folder, 'link.bundle')
  writeFileSync(file, '')
  symlinkSync(file, link)
  t.match(await bundle(link), { code: 0 })
  t.ok(lstatSync(link).isSymbolicLink(), 'a link stays one')
  t.match(await bundle(folder), { code: 1, out: '', err: /^sallyport: .* is a folder/ })
  const none = join(folder, 'none', 'x')
  t.match(await bundle(none), { code: 1, out: '', err: /^sallyport: .* does not exist/ })
})

t.test('a pipe stays one', { skip: process.platform === 'win32' }, async (t) => {
  const { folder, config } = workspace(t)
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const script = `cat "$0" > "$0.read" & "$1" "$2" data bundle "$0" --config "$3"; wait`
  const { status } = spawnSync('sh', ['-c', script, pipe, process.execPath, BIN, config])
  t.equal(status, 0)
  t.ok(statSync(pipe).isFIFO())
  t.ok(statSync(`${pipe}.read`).size > 0)
})

t.test('an output without room is one sentence, and exits 1', { skip: NO_FULL }, async (t) => {
  const { config } = workspace(t)
  for (const argv of [
    ['config', 'show', '--json'],
    ['config', 'check'],
    ['crawlers', 'list'],
  ]) {
    const full = openSync(FULL, 'w')
    const more = argv[0] === 'config' ? ['--config', config] : []
    const { status, stderr } = spawnSync(process.execPath, [BIN, ...argv, ...more], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    t.equal(status, 1, argv.join(' '))
    t.match(stderr, /^sallyport: standard output cannot be written: the disk is full\.$/m, argv.join(' '))
    t.notMatch(stderr, /^ +at /m, 'no stack')
  }
})

t.test('a notice for which there is no room ends no command', { skip: NO_FULL }, async (t) => {
  const { config } = workspace(t, [`listen: 127.0.0.1:${await freePort()}`, `admin: 127.0.0.1:${await freePort()}`])
  t.match((await run('config', 'check', config)).err, /^notice: /, 'it has one')
  const full = openSync(FULL, 'w')
  const { status, stdout } = spawnSync(process.execPath, [BIN, 'config', 'check', config], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
  })
  closeSync(full)
  t.same([status, stdout], [0, 'The configuration is valid.\n'])
})

t.test('logs refuses what is no decision log, and says its name', async (t) => {
  const { folder } = workspace(t)
  const file = join(folder, 'garbage')
  writeFileSync(file, 'a\nb\n')
  t.strictSame(await run('logs', '--log', file), {
    code: 1,
    out: '',
    err: `sallyport: ${file} is not a decision log.\n`,
  })
  writeFileSync(file, '')
  t.match(await run('logs', '--log', file), { code: 0, out: '', err: '' }, 'an empty one is one')
})
