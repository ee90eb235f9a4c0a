import { appendFileSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type AuditEntry, createLog, type LogOptions } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { run, start, workspace } from './command.ts'
import { observed } from './observed.ts'

const OPTIONS: LogOptions = { requests: 'all', addresses: 'full', sample: 1, format: 'plain' }

const BLOCKED = observed('b-1', 'block', { path: '/admin/keys', client: '192.0.2.7', status: 403 })
const FLAGGED = observed('f-1', 'flag', { client: '2001:db8::7', enforced: false })
const ALLOWED = observed('a-1', 'allow', { path: '/', trial: { rule: 'try-it', action: 'block' } })
const CHANGE: AuditEntry = { what: 'keys create', who: 'ada', details: { key: 'k1' } }

/** A decision log of three requests, an audit line, and a line that is none. */
async function logFile(t: Test, options: Partial<LogOptions> = {}): Promise<string> {
  const file = join(t.testdir(), 'decisions.log')
  const log = createLog({ ...OPTIONS, ...options, file })
  for (const request of [BLOCKED, FLAGGED, ALLOWED]) log.observe(request)
  log.audit(CHANGE)
  await log.close()
  appendFileSync(file, 'no line of a log\n')
  return file
}

t.test('logs shows each line for people, whatever its format', async (t) => {
  for (const format of ['plain', 'ecs', 'otel'] as const) {
    const file = await logFile(t, { format })
    const { code, out } = await run('logs', '--log', file)
    t.equal(code, 0)
    const lines = out.trimEnd().split('\n')
    t.equal(lines.length, 4, format)
    const said =
      /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]: block {2}GET site\.example\/admin\/keys {2}403 {2}192\.0\.2\.7 .*\(tor, AS64502 Made Networks, NL, human, program 0\) {2}rule no-tor {2}b-1$/
    t.match(lines[0], said)
    t.match(lines[1], /: flag \(not enforced\) {2}GET/)
    t.match(lines[2], /: allow \(block in a dry run\) .* trial try-it {2}a-1$/)
    t.match(lines[3], /: keys create by ada \{"key":"k1"\}$/)
  }
})

t.test('lines are read as Docker, Compose and journald hand them over, and from a packed log', async (t) => {
  const whole = readFileSync(await logFile(t), 'utf8')
  const [line = ''] = whole.split('\n')
  const { write } = workspace(t)
  const lines = [
    `\ufeff${line}`,
    `sallyport-1  | ${line}`,
    `Nov 21 09:00:00 web sallyport[1]: ${line}`,
    JSON.stringify({ log: `${line}\n`, stream: 'stdout' }),
  ]
  const file = write('handed-over.log', lines.join('\r\n'))
  const { out, err } = await run('logs', '--log', file)
  t.equal(out.match(/rule no-tor {2}b-1/g)?.length, lines.length)
  t.equal(err, '')
  t.match((await run('explain', '--request', 'b-1', '--log', file)).out, 'rule no-tor')
  const cut = write('decisions.log.gz', gzipSync(whole).subarray(0, -4))
  t.match(await run('logs', '--log', cut), { code: 0, out: 'b-1', err: 'decisions.log.gz is truncated' })
})

t.test('logs filters', async (t) => {
  const file = await logFile(t)
  const ids = async (...argv: readonly string[]) => {
    const { out } = await run('logs', '--log', file, '--json', ...argv)
    const lines = out.split('\n').filter((line) => line !== '')
    return lines.map((line) => JSON.parse(line)).map(({ requestId, audit }) => requestId ?? audit)
  }
  for (const [argv, expected] of Object.entries({
    '': 'b-1 f-1 a-1 keys create',
    '--action block,flag': 'b-1 f-1',
    '--trial': 'a-1',
    '--rule try-it': 'a-1',
    '--network vpn': '',
    '--class human --status 4xx': 'b-1',
    '--status 403': 'b-1',
    '--client 192.0.2.0/24': 'b-1',
    '--client 2001:db8::/32': 'f-1 a-1',
    '--path /admin/**': 'b-1',
    '--since 2026-11-02': 'keys create',
    '--audit': 'keys create',
    '-n 2': 'a-1 keys create',
  }))
    t.equal((await ids(...argv.split(' ').filter(Boolean))).join(' '), expected, argv)
  for (const argv of ['--action deny', '--status 4x', '--since soon', '--lines x'])
    t.equal((await run('logs', '--log', file, ...argv.split(' '))).code, 2, argv)
  t.match(await run('logs', '--log', `${file}.gone`), { code: 1, err: /decisions\.log\.gone does not exist/ })
  const { command } = workspace(t)
  await command('keys', 'create')
  t.match((await command('logs', '--audit')).out, /: keys create by /, 'where no log is configured')
})

t.test('logs follows a file, also past its rotation, and reads the configured one', async (t) => {
  const { folder, config } = workspace(t, (folder) => [`log: { file: ${folder}/d.log }`])
  const file = join(folder, 'd.log')
  const log = createLog({ ...OPTIONS, file })
  log.observe(BLOCKED)
  await log.close()
  const following = start(t, ['logs', '--config', config, '--follow'])
  await following.says('b-1')
  renameSync(file, `${file}.1`)
  const next = createLog({ ...OPTIONS, file })
  t.teardown(() => next.close())
  next.observe(FLAGGED)
  await following.says('f-1')
  t.equal(following.out().match(/b-1/g)?.length, 1, 'nothing is shown twice')
  following.child.stdout?.destroy()
  const writing = setInterval(() => next.observe(FLAGGED), 50)
  t.equal(await following.ended, 0, 'it ends once nobody reads')
  clearInterval(writing)
})

t.test('a challenge that could not be shown is a block, and a solution is explained', async (t) => {
  const file = join(t.testdir(), 'asked.log')
  const log = createLog({ ...OPTIONS, file })
  const solution = { outcome: 'solved', rule: 'no-tor', level: 2, seconds: 0.4 } as const
  log.observe({ ...observed('s-3', 'allow', { path: '/.sallyport/pass', status: 204 }), challenge: solution })
  const shown = { outcome: 'program', rule: 'no-tor', level: 2 } as const
  log.observe({ ...observed('u', 'challenge', { status: 403 }), challenge: shown })
  await log.close()
  const refused = await run('logs', '--log', file, '--json', '--action', 'block')
  t.equal(refused.out.trim().split('\n').length, 1, 'a challenge that could not be shown refused its request')
  t.match(refused.out, '"requestId":"u"')
  const explained = (await run('explain', '--request', 's-3', '--log', file)).out
  t.match(explained, /^challenge +solved, level 2, after 400 ms$/m)
  t.match(explained, /^pass +none$/m)
})

t.test('explain --request says what the log knows of an id that a visitor was shown', async (t) => {
  const file = await logFile(t)
  const { out } = await run('explain', '--request', 'b-1', '--log', file)
  t.match(out, /^because +rule no-tor$/m)
  t.match(out, /^reasons +policy:no-tor, network:tor$/m)
  t.match(out, /^network +tor of 2026-10-31$/m)
  t.match(JSON.parse((await run('explain', '--request', 'a-1', '--log', file, '--json')).out), { trialRule: 'try-it' })
  t.match(await run('explain', '--request', 'none', '--log', file), { code: 1, err: /has no request none/ })
  t.match(await run('explain'), { code: 2, err: /needs a file, or --request/ })
})
