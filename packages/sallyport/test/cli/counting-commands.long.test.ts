import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, workspace } from './command.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

function written(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

const POLICY = `policy:
  preset: observe
  rules:
    - { id: logins, match: { path: [/login] }, limit: { key: client, max: 3, window: 1h }, action: throttle }
  strikes: { count: 2, window: 1h, on: [throttled, "status:404"], for: 1d }
`

t.test('policy test plays sequences with times, and each test counts from nothing', async (t) => {
  const { folder, config } = workspace(t)
  const request = '{ ip: 8.8.8.8, path: /login }'
  const file = written(
    folder,
    'tests.yaml',
    `${POLICY}tests:
  - { name: three fit, request: ${request}, times: 3, every: 1s, expect: { action: allow } }
  - { name: the fourth does not, request: ${request}, times: 4, every: 1s, expect: { action: throttle, rule: logins } }
  - { name: slow ones all fit, request: ${request}, times: 40, every: 30m, expect: { action: allow } }
  - { name: another visitor, before: [{ request: ${request}, times: 9 }], request: { ip: 8.8.4.4, path: /login }, expect: { action: allow } }
  - name: after two strikes a ban
    before: [{ request: ${request}, times: 5 }]
    request: { ip: 8.8.8.8, path: / }
    expect: { action: block, rule: strikes }
  - name: which ends
    before: [{ request: ${request}, at: "2026-11-01T00:00:00Z", times: 5 }]
    request: { ip: 8.8.8.8, path: / }
    at: "2026-11-02T00:00:01Z"
    expect: { action: allow }
`,
  )
  const { code, out } = await run('policy', 'test', file, '--config', config)
  t.equal(code, 0, out)
  t.match(out, /6 expectations met/)
  const wrong = written(
    folder,
    'wrong.yaml',
    `${POLICY}tests:\n  - { name: no, request: ${request}, times: 4, every: soon, expect: { action: allow } }\n`,
  )
  t.match(await run('policy', 'test', wrong, '--config', config), { code: 2, err: /every.*must be a duration/ })
})

const FAILURES = `policy:
  preset: observe
  rules:
    - { id: logins, match: { path: [/login] }, limit: { key: client, max: 3, window: 1h, count: failure }, action: throttle }
`

t.test('policy test and replay take failures by their status, and what is refused here is none', async (t) => {
  const { folder, config } = workspace(t, FAILURES.split('\n'))
  const request = '{ ip: 8.8.8.8, path: /login }'
  const file = written(
    folder,
    'failures.yaml',
    `tests:
  - { name: nothing is said, request: ${request}, times: 40, expect: { action: allow } }
  - { name: they succeed, request: ${request}, status: 303, times: 40, expect: { action: allow } }
  - { name: three fail, request: ${request}, status: 401, times: 4, expect: { action: throttle, rule: logins } }
  - { name: mixed, before: [{ request: ${request}, status: 403, times: 2 }, { request: ${request}, times: 9 }], request: ${request}, expect: { action: allow } }
  - { name: then one more, before: [{ request: ${request}, status: 422, times: 3 }], request: ${request}, expect: { action: throttle } }
`,
  )
  const { code, out } = await run('policy', 'test', file, '--config', config)
  t.equal(code, 0, out)
  const line = (second: number, status: number) =>
    `8.8.8.8 - - [21/Nov/2026:10:00:${10 + second} +0000] "POST /login HTTP/1.1" ${status} 1 "-" "${CHROME}"`
  const statuses = [200, 303, 401, 200, 401, 200, 401, 200, 401]
  const log = written(folder, 'logins.log', `${statuses.map((status, at) => line(at, status)).join('\n')}\n`)
  const replayed = await run(
    'replay',
    log,
    '--policy',
    written(folder, 'same.yaml', FAILURES),
    '--json',
    '--config',
    config,
  )
  t.match(JSON.parse(replayed.out), { requests: 9, classes: [{ after: { allow: 7, throttle: 2 } }] })
  const described = written(folder, 'login.json', JSON.stringify({ ip: '8.8.8.8', path: '/login' }))
  const explained = await run('explain', described, '--config', config)
  t.match(explained.out, /counted by +rule logins: 3 failures \(401, 403, 422\) in 1h by client, else throttle/)
})

t.test('policy test tries rules that ask with a pass and without one', async (t) => {
  const { folder, config } = workspace(t)
  const policy = `policy:
  preset: observe
  rules:
    - { id: open, match: { pass: { atLeast: 3 }, path: [/vip] }, action: flag }
    - { id: ask, match: { path: [/shop] }, action: challenge, challenge: { level: 2 } }
    - { id: try, match: { path: [/new] }, action: challenge, monitor: true }
    - { id: budget, match: { path: [/shop] }, action: challenge, limit: { key: pass, max: 3, window: 1h } }
    - { id: no, match: { path: [/no] }, action: block }
  strikes: { count: 2, window: 1h, on: [blocked], for: 1d, then: challenge }
`
  const request = (path: string, pass = '') => `{ ip: 8.8.8.8, path: ${path}${pass === '' ? '' : `, pass: ${pass}`} }`
  const held = '{ level: 2, age: 60 }'
  const file = written(
    folder,
    'asks.yaml',
    `${policy}tests:
  - { name: asked, request: ${request('/shop')}, expect: { action: challenge, rule: ask } }
  - { name: none is said, request: ${request('/shop', 'none')}, expect: { action: challenge, rule: ask } }
  - { name: too low, request: ${request('/shop', '{ level: 1 }')}, expect: { action: challenge, rule: ask } }
  - { name: let on, request: ${request('/shop', held)}, expect: { action: allow } }
  - { name: read, request: ${request('/vip', '{ level: 3 }')}, expect: { action: flag, rule: open } }
  - { name: on trial, request: ${request('/new')}, expect: { action: allow, trial: challenge } }
  - { name: on trial with a pass, request: ${request('/new', held)}, expect: { action: allow, trial: none } }
  - name: used up
    before: [{ request: ${request('/shop', held)}, times: 3 }]
    request: ${request('/shop', held)}
    expect: { action: challenge, rule: budget }
  - name: banned and asked
    before: [{ request: ${request('/no')}, times: 2 }]
    request: ${request('/')}
    expect: { action: challenge, rule: strikes }
  - name: a pass from before the ban
    before: [{ request: ${request('/no')}, times: 2 }]
    request: ${request('/', held)}
    expect: { action: challenge, rule: strikes }
  - name: one from after it
    before: [{ request: ${request('/no')}, at: "2026-11-01T00:00:00Z", times: 2 }]
    request: ${request('/', held)}
    at: "2026-11-01T00:05:00Z"
    expect: { action: allow, rule: default }
`,
  )
  const { code, out } = await run('policy', 'test', file, '--config', config)
  t.equal(code, 0, out)
  t.match(out, /11 expectations met/)
  for (const pass of ['{ level: 4 }', '{ age: 1 }', 'some']) {
    const wrong = written(
      folder,
      'wrong.yaml',
      `${policy}tests:\n  - { name: no, request: ${request('/', pass)}, expect: { action: allow } }\n`,
    )
    t.match(await run('policy', 'test', wrong, '--config', config), { code: 2, err: /pass/ }, pass)
  }
})

t.test('replay counts by the times of the log, and strikes by its statuses', async (t) => {
  const { folder, config } = workspace(t)
  const line = (clock: string, target: string, status = 200, ip = '8.8.8.8') =>
    `${ip} - - [21/Nov/2026:${clock} +0000] "GET ${target} HTTP/1.1" ${status} 1 "-" "${CHROME}"`
  const lines = [
    ...['00', '01', '02', '03'].map((second) => line(`10:00:${second}`, '/login')),
    line('12:00:00', '/login'),
    ...['00', '01', '02'].map((second) => line(`13:00:${second}`, '/gone', 404, '8.8.4.4')),
  ]
  const log = written(folder, 'access.log', `${lines.join('\n')}\n`)
  const { out } = await run(
    'replay',
    log,
    '--policy',
    written(folder, 'new.yaml', POLICY),
    '--json',
    '--config',
    config,
  )
  t.match(JSON.parse(out), { requests: 8, classes: [{ after: { allow: 6, throttle: 1, block: 1 } }] })
})

t.test('explain says what a request would be counted by, and the log where it stood', async (t) => {
  const { folder, config } = workspace(t, POLICY.split('\n'))
  const described = written(folder, 'request.json', JSON.stringify({ ip: '8.8.8.8', path: '/login' }))
  const { out } = await run('explain', described, '--config', config)
  t.match(out, /counted by +rule logins: 3 in 1h by client, else throttle; taken as within/)
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
  const log = written(folder, 'decisions.log', `${JSON.stringify(line)}\n${JSON.stringify(beyond)}\n`)
  t.match((await run('explain', '--request', 'r-1', '--log', log)).out, /limit +17th of 20 in 1m, rule search/)
  t.match((await run('explain', '--request', 'r-2', '--log', log)).out, /limit +beyond 20 in 1m, rule search/)
})

t.test('a request that is refused without a rule has its cause', async (t) => {
  const { folder } = workspace(t)
  const line = { requestId: 'r-1', time: '2026-11-21T09:00:00.000Z', client: '203.0.113.9', method: 'GET', path: '/a' }
  const refused = { ...line, status: 400, milliseconds: 1, answeredBy: 'refusal', refusedFor: 'head' }
  const log = written(folder, 'requests.log', `${JSON.stringify(refused)}\n`)
  const { out } = await run('explain', '--request', 'r-1', '--log', log)
  t.match(out, /^refused for +head$/m)
  t.notMatch(out, /^because/m)
})

t.test('bans are listed and lifted, and lifting is in the audit trail', async (t) => {
  const { config } = workspace(t)
  t.match(await run('bans', 'list', '--config', config), { code: 0, out: /Nobody is banned/ })
  t.match(await run('bans', 'lift', 'none', '--config', config), { code: 1, err: /No ban none is in force/ })
})

t.test('config check warns of a rule that counts by user, of whom the proxy knows nothing', async (t) => {
  const { config } = workspace(t, [
    'policy: { rules: [{ id: each, match: {}, limit: { key: user, max: 5, window: 1m }, action: throttle }] }',
  ])
  const { code, out, err } = await run('config', 'check', config)
  t.equal(code, 0)
  t.match(out + err, /each.*counts by user/)
})

t.test('policy test and replay ban by decoys and probes', async (t) => {
  const { folder, config } = workspace(t, ['decoys: { paths: [/trap, /staff/rota] }'])
  const policy = `policy:
  preset: observe
  limits: [scanner-guard]
  strikes: { count: 1, window: 10m, on: [decoy], for: 1h }
`
  const scan = ['/.env', '/.git/config', '/wp-login.php', '/phpmyadmin/', '/cgi-bin/luci']
  const asked = (path: string, more = '') => `{ ip: 5.9.10.20, path: "${path}", userAgent: curl/8.5.0${more} }`
  const before = (paths: readonly string[]) =>
    `before: [${paths.map((path) => `{ request: ${asked(path)} }`).join(', ')}]`
  const file = written(
    folder,
    'traps.yaml',
    `${policy}tests:
  - { name: a decoy, ${before(['/trap'])}, request: ${asked('/')}, expect: { action: block, rule: strikes } }
  - { name: a scan, ${before(scan)}, request: ${asked('/')}, expect: { action: block, rule: scanner-guard } }
  - { name: four, ${before([...scan.slice(1), ...scan.slice(1)])}, request: ${asked('/')}, expect: { action: allow } }
  - { name: the answer, ${before(scan.slice(1))}, request: ${asked(scan[0] as string)}, expect: { action: allow } }
  - name: a prefetch
    before: [{ request: ${asked('/trap', ', headers: { sec-purpose: prefetch }')} }]
    request: ${asked('/')}
    expect: { action: allow }
`,
  )
  const tested = await run('policy', 'test', file, '--config', config)
  t.match(tested.out, /5 expectations met/, tested.err)
  const line = (second: number, target: string, ip: string) =>
    `${ip} - - [21/Nov/2026:10:00:${second} +0000] "GET ${target} HTTP/1.1" 404 1 "-" "${CHROME}"`
  const lines = [
    ...[...scan, '/', '/'].map((target, at) => line(10 + at, target, '5.9.10.20')),
    ...[...scan.slice(1), ...scan.slice(1), '/'].map((target, at) => line(20 + at, target, '5.9.10.21')),
    ...['/trap', '/staff/rota', '/'].map((target, at) => line(30 + at, target, '5.9.10.22')),
  ]
  const log = written(folder, 'probes.log', `${lines.join('\n')}\n`)
  const other = written(folder, 'other.yaml', policy)
  const { out } = await run('replay', log, '--policy', other, '--config', config, '--json')
  const { classes } = JSON.parse(out) as { readonly classes: readonly { readonly after: { readonly block: number } }[] }
  t.equal(
    classes.reduce((sum, { after }) => sum + after.block, 0),
    3,
  )
})
