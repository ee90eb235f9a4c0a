import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, lstatSync, openSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { savePolicy } from '../../src/cli/service/save-policy.ts'
import { BIN, run, workspace } from './command.ts'

const FULL = '/dev/full'
const NO_FULL = existsSync(FULL) && statSync(FULL).isCharacterDevice() ? false : 'no device that is always full'

t.test('data bundle writes into what is named', async (t) => {
  const { folder, command, write } = workspace(t)
  const bundle = (file: string) => command('data', 'bundle', file)
  const link = join(folder, 'link.bundle')
  symlinkSync(write('networks.bundle', ''), link)
  t.match(await bundle(link), { code: 0 })
  t.ok(lstatSync(link).isSymbolicLink(), 'a link stays one')
  t.match(await bundle(folder), { code: 1, out: '', err: /^sallyport: .* is a folder/ })
  t.match(await bundle(join(folder, 'none', 'x')), { code: 1, out: '', err: /^sallyport: .* does not exist/ })
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

/** Runs a command, one of whose streams has no room: `which` is its number. */
function runFull(which: 1 | 2, ...argv: readonly string[]) {
  const full = openSync(FULL, 'w')
  const stdio = which === 1 ? (['ignore', full, 'pipe'] as const) : (['ignore', 'pipe', full] as const)
  const ended = spawnSync(process.execPath, [BIN, ...argv], { stdio: [...stdio], encoding: 'utf8' })
  closeSync(full)
  return ended
}

t.test('an output without room is one sentence, and exits 1; a notice is dropped', { skip: NO_FULL }, async (t) => {
  const { config } = workspace(t, [`listen: 127.0.0.1:${await freePort()}`, `admin: 127.0.0.1:${await freePort()}`])
  for (const argv of [
    ['config', 'show', '--json', '--config', config],
    ['config', 'check', '--config', config],
    ['crawlers', 'list'],
  ]) {
    const { status, stderr } = runFull(1, ...argv)
    t.equal(status, 1, argv.join(' '))
    t.match(stderr, /^sallyport: standard output cannot be written: the disk is full\.$/m, argv.join(' '))
    t.notMatch(stderr, /^ +at /m, 'no stack')
  }
  t.match((await run('config', 'check', config)).err, /^notice: /, 'it has one')
  const { status, stdout } = runFull(2, 'config', 'check', config)
  t.same([status, stdout], [0, 'The configuration is valid.\n'])
})

t.test('logs refuses what is no decision log, and says its name', async (t) => {
  const { write } = workspace(t)
  const err = `sallyport: ${write('garbage', 'a\nb\n')} is not a decision log.\n`
  t.strictSame(await run('logs', '--log', write('garbage', 'a\nb\n')), { code: 1, out: '', err })
  t.match(await run('logs', '--log', write('empty', '')), { code: 0, out: '', err: '' }, 'an empty one is one')
})

t.test('a policy is written into what a link leads to, or nothing is changed', async (t) => {
  const folder = t.testdir({ real: {} })
  const [target, link] = [join(folder, 'real', 'sallyport.yaml'), join(folder, 'sallyport.yaml')]
  writeFileSync(target, '# ours\nmode: monitor\n', { mode: 0o640 })
  symlinkSync('real/sallyport.yaml', link)
  const extend = async (before: string) => `${before}policy: { rules: [] }\n`
  await savePolicy(link, extend, async () => {})
  t.ok(lstatSync(link).isSymbolicLink())
  t.equal(lstatSync(target).mode & 0o777, 0o640)
  const saved = readFileSync(target, 'utf8')
  t.match(saved, /# ours\nmode: monitor\npolicy:/)
  const refuse = async () => {
    throw new Error('refused')
  }
  const saving = savePolicy(link, async () => 'policy: { preset: observe }\n', refuse)
  await t.rejects(saving, { message: 'refused' })
  t.equal(readFileSync(target, 'utf8'), saved)
})

t.test('a file that cannot be written is named, with nothing left beside it', async (t) => {
  // A draft beside it has a longer name than the system takes.
  const file = join(t.testdir(), 'a'.repeat(253))
  writeFileSync(file, 'mode: monitor\n')
  const saving = savePolicy(
    file,
    async (before) => `${before}policy: { rules: [] }\n`,
    async () => void t.fail('nothing is taken over'),
  )
  await t.rejects(saving, {
    code: 'invalid_request',
    message: /Nothing was saved, because .* cannot be written \(ENAMETOOLONG\)/,
  })
  t.equal(readFileSync(file, 'utf8'), 'mode: monitor\n')
})
