import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { finish, LOOPBACK, start, workspace } from './command.ts'

/* The file systems have a few hundred kilobytes, in a mount namespace that ends with its command. */
const UNSHARE = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
const tried = spawnSync('unshare', [...UNSHARE, 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'], { encoding: 'utf8' })
const skip = tried.status !== 0 && `no file systems can be made: ${tried.error?.message ?? tried.stderr.trim()}`

/** A command whose dataDir is a file system of its own. `prepare` is shell, run in it before the command. */
function startOn(t: Test, size: string, prepare: string, argv: readonly string[]) {
  const { config, folder } = workspace(t)
  const dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  const script = `mount -t tmpfs -o size=${size} tmpfs ${dataDir}; cd ${dataDir}; ${prepare}; cd /; exec "$0" "$@"`
  const started = start(t, [...argv, '--config', config], {}, {}, ['unshare', ...UNSHARE, 'sh', '-c', script])
  return { ...started, dataDir, config }
}

/** `cat` fills it to the last byte, and fails at the end. */
const FILL = 'cat /dev/zero > filler 2>/dev/null'

t.test('on a full disk every command ends with one sentence', { skip }, async (t) => {
  const commands = [
    ['proxy', ...LOOPBACK],
    ['data', 'compile'],
    ['accounts', 'list'],
    ['ip', 'set', '8.8.8.8', '--class', 'vpn'],
    ['ledger', 'verify'],
  ]
  const said = commands.map(async (argv) => {
    const started = startOn(t, '100k', FILL, argv)
    const { err, ...ended } = await finish(started)
    return { argv, ...ended, err: err.replaceAll(started.dataDir, 'DIR') }
  })
  const sentence =
    /^(sallyport: this change could not be recorded in DIR\/audit\.log: ENOSPC.*\n)?sallyport: dataDir: DIR cannot be written: the disk is full( or failing)?\n$/
  for (const { argv, ...ended } of await Promise.all(said))
    t.match(ended, { code: 1, out: /^$/, err: sentence }, argv.join(' '))
})

t.test('on a file system that is mounted read-only they say so, and those that read go on', { skip }, async (t) => {
  // $0 and $1 are the program and the script of the command.
  const sealed = '"$0" "$1" data compile --data-dir . --config ../test.yaml && mount -o remount,ro .'
  const cannot = startOn(t, '16m', sealed, ['keys', 'create'])
  t.equal(await cannot.ended, 1)
  const reason = 'its file system is read-only. Set data.readOnly: true to use prebuilt data'
  t.ok(cannot.err().endsWith(`sallyport: dataDir: ${cannot.dataDir} cannot be written: ${reason}\n`), cannot.err())
  const reads = startOn(t, '16m', sealed, ['lookup', '8.8.8.8', '10.0.0.1'])
  t.equal(await reads.ended, 0, reads.err())
  t.match(reads.out(), /^8\.8\.8\.8\n.*^10\.0\.0\.1\n/ms)
})

t.test('a disk that is full later stops what is recorded, and no visitor', { skip }, async (t) => {
  const proxy = startOn(t, '16m', ':', ['proxy', ...LOOPBACK])
  await proxy.says('API at')
  const url = /Listening on (http:\/\/\S+),/.exec(proxy.err())?.[1] ?? ''
  // `/proc` shows the proxy's file system outside of its namespace.
  const inside = `/proc/${proxy.child.pid}/root${proxy.dataDir}`
  t.ok(existsSync(join(inside, 'state.db')), readdirSync(inside).join(' '))
  t.throws(() => appendFileSync(join(inside, 'filler'), Buffer.alloc(20_000_000)), { code: 'ENOSPC' })
  const visits = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/v1/openapi.json`)))
  t.same(new Set(visits.map(({ status }) => status)), new Set([200]))
  const keyless = await fetch(`${url}/v1/myip`)
  t.equal(keyless.status, 200, 'limits are counted in memory where they cannot be written')
  t.equal(await proxy.stop('SIGINT'), 0)
  t.match(proxy.err(), /^sallyport: database or disk is full/m, 'what failed is said')
  t.notMatch(proxy.err(), /^ +at |rollback/m, 'no stack, and no fault that follows from it')
})

t.test('a full disk leaves no half of a key, and no token that nobody knows', { skip }, async (t) => {
  const script = `
    import { readdirSync } from 'node:fs'
    import { makeSecret } from '@sallyport/engine/files'
    import { readOrMakeSecret } from '#console'
    for (const make of [makeSecret, readOrMakeSecret])
      try {
        make(process.argv[1] + '/key', 'x'.repeat(64))
      } catch (error) {
        console.log(error.code, error.message)
      }
    console.log(readdirSync(process.argv[1]).join())`
  const folder = t.testdir()
  const mounted = `mount -t tmpfs -o size=100k tmpfs ${folder}; cd ${folder}; ${FILL}; cd "$2"; exec "$0" --input-type=module -e "$1" ${folder}`
  const root = join(import.meta.dirname, '../../..')
  const { stdout } = spawnSync('unshare', [...UNSHARE, 'sh', '-c', mounted, process.execPath, script, root], {
    encoding: 'utf8',
  })
  t.match(stdout, /^ENOSPC .*\ndata_dir_unusable .*key cannot be written: the disk is full\nfiller\n$/)
})
