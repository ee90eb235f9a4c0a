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
  const { command, write } = workspace(t, failures.split('\n'))
  const line = (second: number, status: number) =>
    `8.8.8.8 - - [21/Nov/2026:10:00:${10 + second} +0000] "POST /login HTTP/1.1" ${status} 1 "-" "${CHROME}"`
  const statuses = [200, 303, 401, 200, 401, 200, 401, 200, 401]
  const log = write('logins.log', `${statuses.map((status, at) => line(at, status)).join('\n')}\n`)
  const replayed = await command('replay', log, '--policy', write('same.yaml', failures), '--json')
  t.match(JSON.parse(replayed.out), { requests: 9, classes: [{ after: { allow: 7, throttle: 2 } }] })
  const described = write('login.json', { ip: '8.8.8.8', path: '/login' })
  const explained = await command('explain', described)
  t.match(explained.out, /counted by +rule logins: 3 failures \(401, 403, 422\) in 1h by client, else throttle/)
})

t.test('replay counts by the times of the log, and strikes by its statuses', async (t) => {
  const { command, write } = workspace(t)
  const line = (clock: string, target: string, status = 200, ip = '8.8.8.8') =>
    `${ip} - - [21/Nov/2026:${clock} +0000] "GET ${target} HTTP/1.1" ${status} 1 "-" "${CHROME}"`
  const lines = [
    ...['00', '01', '02', '03'].map((second) => line(`10:00:${second}`, '/login')),
    line('12:00:00', '/login'),
    ...['00', '01', '02'].map((second) => line(`13:00:${second}`, '/gone', 404, '8.8.4.4')),
  ]
  const log = write('access.log', `${lines.join('\n')}\n`)
  const { out } = await command('replay', log, '--policy', write('new.yaml', POLICY), '--json')
  t.match(JSON.parse(out), { requests: 8, classes: [{ after: { allow: 6, throttle: 1, block: 1 } }] })
})

t.test('replay decides recorded events by another policy', async (t) => {
  const { command, write } = workspace(t, ['policy: { preset: observe }'])
  const said = {
    action: 'allow',
    enforced: true,
    method: 'POST',
    host: '',
    path: '/login',
    status: 0,
    answeredBy: 'event',
  }
  const line = (at: number, more: object) =>
    JSON.stringify({
      ...{
        level: 'info',
        time: `2026-11-21T10:00:${10 + at}.000Z`,
        requestId: `${at}`,
        ...said,
        client: `9.9.${at}.9`,
      },
      ...{
        userAgent: CHROME,
        event: 'login',
        identifiers: ['aHash', 'another'],
        facts: ['!account.known', '!account.travel'],
      },
      ...more,
    })
  const guesses = Array.from({ length: 12 }, (_, at) => line(at, { outcome: 'failure' }))
  const lines = [
    ...guesses,
    line(12, { outcome: 'success', facts: ['account.known'] }),
    line(13, { facts: ['!account.known', 'account.travel'] }),
    line(14, { event: 'signup', facts: ['mail.disposable'] }),
  ]
  const log = write('decisions.log', `${lines.join('\n')}\n`)
  const policy = write('guard.yaml', 'preset: observe\nlimits: [account-guard]\n')
  const { out } = await command('replay', log, '--policy', policy, '--json')
  t.match(JSON.parse(out), {
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
  const { out } = await command('simulate', '--as', 'browser', '--event', 'login')
  t.match(out, /event +login/)
  t.match(
    out,
    /counted by +rule account-guess: 10 failures in 15m by identifier, else challenge; assumed within the limit/,
  )
  const reset = await command('simulate', '--as', 'browser', '--event', 'reset')
  t.match(reset.out, /event +reset/)
  t.notMatch(reset.out, 'account-guess:')
  t.notMatch((await command('simulate', '--as', 'browser')).out, 'account-guess')
})

t.test('explain says what a request would be counted by, and the log where it stood', async (t) => {
  const { command, write } = workspace(t, POLICY.split('\n'))
  const described = write('request.json', { ip: '8.8.8.8', path: '/login' })
  const { out } = await command('explain', described)
  t.match(out, /counted by +rule logins: 3 in 1h by client, else throttle; assumed within the limit/)
  const line = {
    time: '2026-11-01T00:00:00.000Z',
    requestId: 'r-1',
    action: 'allow',
    rule: 'default',
    path: '/search',
    method: 'GET',
    host: 'a',
    status: 200,
    milliseconds: 1,
    answeredBy: 'origin',
    limitRule: 'search',
    limitUsed: 17,
    limitMax: 20,
    limitWindow: 60_000,
  }
  const beyond = { ...line, requestId: 'r-2', action: 'throttle', rule: 'search', limitUsed: 20, status: 429 }
  const log = write('decisions.log', `${JSON.stringify(line)}\n${JSON.stringify(beyond)}\n`)
  t.match((await run('explain', '--request', 'r-1', '--log', log)).out, /limit +17th of 20 in 1m, rule search/)
  t.match((await run('explain', '--request', 'r-2', '--log', log)).out, /limit +over 20 in 1m, rule search/)
})

t.test('a request that is refused without a rule has its cause', async (t) => {
  const { write } = workspace(t)
  const line = { requestId: 'r-1', time: '2026-11-21T09:00:00.000Z', client: '203.0.113.9', method: 'GET', path: '/a' }
  const refused = { ...line, status: 400, milliseconds: 1, answeredBy: 'refusal', refusedFor: 'head' }
  const log = write('requests.log', `${JSON.stringify(refused)}\n`)
  const { out } = await run('explain', '--request', 'r-1', '--log', log)
  t.match(out, /^refusal reason +head$/m)
  t.notMatch(out, /^because/m)
})

t.test('bans are listed and lifted, and lifting is in the audit trail', async (t) => {
  const { command } = workspace(t)
  t.match(await command('bans', 'list'), { code: 0, out: /There are no active bans/ })
  t.match(await command('bans', 'lift', 'none'), { code: 1, err: /No ban none is in force/ })
})

t.test('config check warns of a rule that counts by user, of whom the proxy knows nothing', async (t) => {
  const { config } = workspace(t, [
    'policy: { rules: [{ id: each, match: {}, limit: { key: user, max: 5, window: 1m }, action: throttle }] }',
  ])
  const { code, out, err } = await run('config', 'check', config)
  t.equal(code, 0)
  t.match(out + err, /each.*counts by user/)
})

t.test('replay bans by decoys and probes', async (t) => {
  const { command, write } = workspace(t, ['decoys: { paths: [/trap, /staff/rota] }'])
  const scan = ['/.env', '/.git/config', '/wp-login.php', '/phpmyadmin/', '/cgi-bin/luci']
  const line = (second: number, target: string, ip: string) =>
    `${ip} - - [21/Nov/2026:10:00:${second} +0000] "GET ${target} HTTP/1.1" 404 1 "-" "${CHROME}"`
  const lines = [
    ...[...scan, '/', '/'].map((target, at) => line(10 + at, target, '5.9.10.20')),
    ...[...scan.slice(1), ...scan.slice(1), '/'].map((target, at) => line(20 + at, target, '5.9.10.21')),
    ...['/trap', '/staff/rota', '/'].map((target, at) => line(30 + at, target, '5.9.10.22')),
  ]
  const log = write('probes.log', `${lines.join('\n')}\n`)
  const other = write('other.yaml', makePolicy('traps.yaml'))
  const { out } = await command('replay', log, '--policy', other, '--json')
  // Its lines name no referrer: another site may have led a person there.
  t.match(JSON.parse(out), { asked: { after: 3 }, classes: [{ class: 'human', after: { challenge: 3 } }] })
})
