import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, workspace } from './command.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

const FILES = join(import.meta.dirname, '../../../test/cli/policy-tests')
/** `readSample` reads a file of expectations, and `makePolicy` keeps the policy in it alone. */
const readSample = (name: string) => readFileSync(join(FILES, name), 'utf8')
const makePolicy = (name: string) => readSample(name).replace(/^tests:[\s\S]*/m, '')
const POLICY = makePolicy('logins.yaml')

const logLine = (clock: string, target: string, status = 200, ip = '8.8.8.8', method = 'GET') =>
  `${ip} - - [21/Nov/2026:${clock} +0000] "${method} ${target} HTTP/1.1" ${status} 1 "-" "${CHROME}"\n`

t.test('policy test plays sequences with times, and each test counts from nothing', async (t) => {
  const { command, write } = workspace(t, ['decoys: { paths: [/trap, /staff/rota] }'])
  for (const name of readdirSync(FILES)) {
    const { code, out, err } = await command('policy', 'test', join(FILES, name))
    t.match([code, err], [0, ''], `${name}: ${out}`)
  }
  for (const [name, right, wrong, says] of [
    ['logins.yaml', 'every: 1s', 'every: soon', /every.*must be a duration/],
    ['events.yaml', 'event: payment', 'event: paying', /event/],
    ['events.yaml', 'account.travel', 'account.tired', /facts/],
    ['events.yaml', 'event: login, user: "17", facts', 'event: login, facts', /must have a user or an identifier/],
    ...['{ level: 4 }', '{ age: 1 }', 'some'].map((pass) => ['passes.yaml', '{ level: 1 }', pass, /pass/] as const),
  ] as const) {
    const file = write('wrong.yaml', readSample(name).replace(right, wrong))
    t.match(await command('policy', 'test', file), { code: 2, err: says }, wrong)
  }
})

t.test('replay takes failures by their status, and what is refused here is none', async (t) => {
  const failures = makePolicy('failures.yaml')
  const { command, object, write } = workspace(t, failures.split('\n'))
  const statuses = [200, 303, 401, 200, 401, 200, 401, 200, 401]
  const lines = statuses.map((status, at) => logLine(`10:00:${10 + at}`, '/login', status, '8.8.8.8', 'POST'))
  const replayed = await object('replay', write('logins.log', lines.join('')), '--policy', write('p.yaml', failures))
  t.match(replayed, { requests: 9, classes: [{ after: { allow: 7, throttle: 2 } }] })
  const explained = await command('explain', write('login.json', { ip: '8.8.8.8', path: '/login' }))
  t.match(explained.out, /counted by +rule logins: 3 failures \(401, 403, 422\) in 1h by client, else throttle/)
})

t.test('replay counts by the times of the log, and strikes by its statuses', async (t) => {
  const { object, write } = workspace(t)
  const lines = [
    ...['10:00:00', '10:00:01', '10:00:02', '10:00:03', '12:00:00'].map((clock) => logLine(clock, '/login')),
    ...['00', '01', '02'].map((second) => logLine(`13:00:${second}`, '/gone', 404, '8.8.4.4')),
  ]
  const told = await object('replay', write('access.log', lines.join('')), '--policy', write('new.yaml', POLICY))
  t.match(told, { requests: 8, classes: [{ after: { allow: 6, throttle: 1, block: 1 } }] })
})

t.test('replay decides recorded events by another policy', async (t) => {
  const { command, object, write } = workspace(t, ['policy: { preset: observe }'])
  const said = { level: 'info', action: 'allow', enforced: true, method: 'POST', host: '', path: '/login', status: 0 }
  const told = { answeredBy: 'event', userAgent: CHROME, event: 'login', identifiers: ['aHash', 'another'] }
  const line = (at: number, more: object) => {
    const own = { time: `2026-11-21T10:00:${10 + at}.000Z`, requestId: `${at}`, client: `9.9.${at}.9` }
    return JSON.stringify({ ...said, ...told, ...own, facts: ['!account.known', '!account.travel'], ...more })
  }
  const lines = [
    ...Array.from({ length: 12 }, (_, at) => line(at, { outcome: 'failure' })),
    line(12, { outcome: 'success', facts: ['account.known'] }),
    line(13, { facts: ['!account.known', 'account.travel'] }),
    line(14, { event: 'signup', facts: ['mail.disposable'] }),
  ]
  const log = write('decisions.log', `${lines.join('\n')}\n`)
  const policy = write('guard.yaml', 'preset: observe\nlimits: [account-guard]\n')
  t.match(await object('replay', log, '--policy', policy), {
    requests: 15,
    unread: 0,
    classes: [
      { class: 'event login', requests: 14, before: { allow: 14 }, after: { allow: 11, challenge: 3 }, changed: 3 },
      { class: 'event signup', requests: 1, after: { block: 1 } },
    ],
  })
  const trial = write('trial.yaml', 'rules: [{ id: no, match: { event: [signup] }, action: block, monitor: true }]\n')
  t.match((await command('replay', log, '--policy', trial)).out, /event signup +1 +1 .* 1\n/, 'a dry run')
})

t.test('simulate judges an event of an account that nobody knows', async (t) => {
  const { command } = workspace(t, ['policy: { preset: observe, limits: [account-guard] }'])
  const simulate = async (...argv: readonly string[]) => (await command('simulate', '--as', 'browser', ...argv)).out
  const login = await simulate('--event', 'login')
  t.match(login, /event +login/)
  const counted = /counted by +rule account-guess: 10 failures in 15m by identifier, else challenge; assumed within the/
  t.match(login, counted)
  const reset = await simulate('--event', 'reset')
  t.match(reset, /event +reset/)
  t.notMatch(reset + (await simulate()), 'account-guess:')
})

t.test('explain says what a request would be counted by, and the log where it stood', async (t) => {
  const { command, write } = workspace(t, POLICY.split('\n'))
  const { out } = await command('explain', write('request.json', { ip: '8.8.8.8', path: '/login' }))
  t.match(out, /counted by +rule logins: 3 in 1h by client, else throttle; assumed within the limit/)
  const own = { time: '2026-11-01T00:00:00.000Z', path: '/search', method: 'GET', host: 'a', milliseconds: 1 }
  const limit = { limitRule: 'search', limitUsed: 17, limitMax: 20, limitWindow: 60_000, answeredBy: 'origin' }
  const line = { ...own, ...limit, requestId: 'r-1', action: 'allow', rule: 'default', status: 200 }
  const beyond = { ...line, requestId: 'r-2', action: 'throttle', rule: 'search', limitUsed: 20, status: 429 }
  const refused = { ...own, requestId: 'r-3', status: 400, answeredBy: 'refusal', refusedFor: 'head' }
  const log = write('decisions.log', [line, beyond, refused].map((each) => `${JSON.stringify(each)}\n`).join(''))
  const explain = async (id: string) => (await run('explain', '--request', id, '--log', log)).out
  t.match(await explain('r-1'), /limit +17th of 20 in 1m, rule search/)
  t.match(await explain('r-2'), /limit +over 20 in 1m, rule search/)
  t.match(await explain('r-3'), /^refusal reason +head$/m)
  t.notMatch(await explain('r-3'), /^because/m)
})

t.test('bans are listed and lifted', async (t) => {
  const { command } = workspace(t)
  t.match(await command('bans', 'list'), { code: 0, out: /There are no active bans/ })
  t.match(await command('bans', 'lift', 'none'), { code: 1, err: /No ban none is in force/ })
})

t.test('replay bans by decoys and probes', async (t) => {
  const { object, write } = workspace(t, ['decoys: { paths: [/trap, /staff/rota] }'])
  const scan = ['/.env', '/.git/config', '/wp-login.php', '/phpmyadmin/', '/cgi-bin/luci']
  const list = (second: number, ip: string, ...targets: readonly string[]) =>
    targets.map((target, at) => logLine(`10:00:${second + at}`, target, 404, ip))
  const lines = [
    ...list(10, '5.9.10.20', ...scan, '/', '/'),
    ...list(20, '5.9.10.21', ...scan.slice(1), ...scan.slice(1), '/'),
    ...list(30, '5.9.10.22', '/trap', '/staff/rota', '/'),
  ]
  const other = write('other.yaml', makePolicy('traps.yaml'))
  // Its lines name no referrer: another site may have led a person there.
  t.match(await object('replay', write('probes.log', lines.join('')), '--policy', other), {
    asked: { after: 3 },
    classes: [{ class: 'human', after: { challenge: 3 } }],
  })
})
