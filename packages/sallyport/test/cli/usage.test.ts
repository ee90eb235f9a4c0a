import { join } from 'node:path'
import t from 'tap'
import { run, workspace } from './command.ts'

t.test('wrong usage exits 2 and says how in one line', async (t) => {
  const { command } = workspace(t)
  const wrong: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
    [['proxy', '--workers', '0'], /--workers <n>' argument '0' is invalid. The value must be a number from 1 to 64/],
    [['proxy', '--workers', 'many'], /--workers <n>' argument 'many' is invalid/],
    [['proxy', '--store', 'postgres://app:s3cret@127.0.0.1/x'], /--store contains a password.*set SALLYPORT_STORE, or/],
    [['proxy', '--redis', 'redis://:s3cret@127.0.0.1'], /--redis contains a password.*SALLYPORT_REDIS/],
    [['proxy', '--redis', '127.0.0.1'], /--redis: redis: must be redis:/],
    [['proxy', '--store', 'mysql://127.0.0.1/x'], /--store: store: must be sqlite:<path>/],
    [['proxy', '--mode', 'loud'], /Allowed choices are enforce, monitor/],
    [['proxy', '--listen', 'nowhere'], /--listen: listen: must be host:port/],
    [['proxy', '--trust-proxy', 'everyone'], /trustProxy\.0: "everyone"/],
    [['proxy', '--upstream', 'ftp://a'], /--upstream: upstream: must be an origin/],
    [['proxy', '--upstream', 'http://a/path', '--listen', '127.0.0.1:0'], /upstream: must be an origin/],
    [['proxy', '--fast'], /unknown option '--fast'/],
    [['lookup'], /missing required argument 'targets'/],
    [['keys', 'create', '--signup', '2026-02-30'], /The value must be a day, YYYY-MM-DD/],
    [['keys', 'create', '--account', 'a', '--plan', 'free'], /cannot be used with/],
    [['privacy', 'export', 'nope'], /'nope' is invalid for argument 'address'. The value is not an IPv4 or IPv6/],
    [['privacy', 'erase', 'nope', '--yes'], /'nope' is invalid for argument 'address'/],
    [['accounts', 'create', '--signup', '31.1.2026'], /The value must be a day, YYYY-MM-DD/],
  ]
  for (const [argv, says] of wrong) {
    const { code, out, err } = await command(...argv)
    t.equal(code, 2, argv.join(' '))
    t.match(err, says)
    t.match(err, /^sallyport: /)
    t.equal(err.trimEnd().split('\n').length, 1, 'one line')
    t.equal(out, '')
  }
})

t.test('a configuration that is not usable exits 2 and names what', async (t) => {
  const { folder, write } = workspace(t)
  const missing = await run('data', 'status', '--config', join(folder, 'none.yaml'))
  t.match(missing, { code: 2, err: /^sallyport: configuration: .*none.yaml does not exist\n$/ })
  const broken = await run('data', 'status', '--config', write('broken.yaml', 'listen: [\n'))
  t.match(broken, { code: 2, err: /^sallyport: \S+broken.yaml:2: / })
})

t.test('help and version', async (t) => {
  const help = await run('--help')
  t.match(help, { code: 0, err: '' })
  for (const command of ['proxy', 'lookup', 'keys', 'accounts', 'data', 'ledger', 'evidence'])
    t.match(help.out, new RegExp(`^  ${command} `, 'm'))
  t.match(await run('--version'), { code: 0, out: /^\d+\.\d+\.\d+\n$/ })
  t.match(await run(), { code: 2 })
  t.match(await run('keys'), { code: 2 })
  t.match(await run('ledgers'), { code: 2, err: /unknown command 'ledgers'/ })
})
