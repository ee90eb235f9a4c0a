import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { HELD } from '../../src/cli/log/access/sort-lines.ts'
import { piping, run, workspace } from './command.ts'
import { FIREFOX } from './read-lines.ts'

function written(folder: string, name: string, ...lines: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** A script that comes every ten minutes, as Caddy logs it. */
const SCRIPT = Array.from({ length: 12 }, (_, index) =>
  JSON.stringify({
    level: 'info',
    ts: 1_795_168_800.25 + index * 600,
    logger: 'http.log.access',
    msg: 'handled request',
    request: {
      remote_ip: '203.0.114.7',
      proto: 'HTTP/2.0',
      method: 'GET',
      uri: '/login',
      headers: { 'User-Agent': ['python-requests/2.32.3'] },
    },
    status: 200,
  }),
)

t.test("Caddy's log: who it was, and when", async (t) => {
  const { folder, config } = workspace(t)
  const log = written(folder, 'caddy.log', ...SCRIPT)
  const replay = async (rule: string) => {
    const policy = written(folder, 'p.yaml', `rules: [${rule}]`)
    const { code, out } = await run('replay', log, '--policy', policy, '--json', '--config', config)
    t.equal(code, 0, out)
    return JSON.parse(out)
  }
  t.match(await replay('{ id: scripts, match: { class: [unverified_bot] }, action: flag }'), {
    requests: 12,
    unread: 0,
    classes: [{ class: 'unverified_bot', requests: 12, after: { flag: 12 } }],
  })
  t.match(await replay('{ id: ask, match: { class: [unverified_bot] }, action: challenge }'), {
    asked: { before: 0, after: 12 },
    classes: [{ after: { challenge: 12 } }],
  })
  const asking = written(folder, 'ask.yaml', 'rules: [{ id: ask, match: { path: [/login] }, action: challenge }]')
  t.match(
    (await run('replay', log, '--policy', asking, '--config', config)).out,
    'Challenged: at most 0% → 100% of the requests',
  )
  const limit = (window: string) =>
    `{ id: logins, match: { path: [/login] }, limit: { key: client, max: 8, window: ${window} }, action: throttle }`
  t.match(await replay(limit('1h')), { classes: [{ after: { throttle: 0 } }] })
  t.match(await replay(limit('1d')), { classes: [{ after: { throttle: 4 } }] })
})

t.test('a request without a user agent is no person, and a line without a time is none', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const line = (agent: string, time = '[21/Nov/2026:10:00:00 +0000]') =>
    `203.0.114.7 - - ${time} "GET / HTTP/1.1" 200 1 "-" "${agent}"`
  const log = written(folder, 'a.log', line('-'), line('curl/8.5.0', '[-]'), 'hello')
  const replay = (...more: readonly string[]) => run('replay', log, '--policy', policy, '--config', config, ...more)
  t.match(JSON.parse((await replay('--json')).out), {
    requests: 1,
    unread: 2,
    lacking: { time: 1, request: 1 },
    classes: [{ class: 'unverified_bot', requests: 1 }],
  })
  t.match((await replay()).out, /^1 request\n2 lines not read: 1 without a time, 1 without a request$/m)
  appendFileSync(log, `${line('curl/8.5.0')}\n`)
  t.match((await replay('--format', 'combined')).out, /^2 requests\n2 lines not read/m)
  t.match(await replay('--format', 'json'), {
    code: 1,
    err: /a\.log: none of 4 lines can be evaluated: 4 without a request\. replay reads the combined form/,
  })
  t.match(await replay('--format', 'clf'), { code: 2, err: /Allowed choices are sallyport, json, w3c, combined/ })
})

t.test('any other log is refused with one sentence, and what its lines lack', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const at = '[21/Nov/2026:10:00:00 +0000]'
  const rows: readonly (readonly [line: string, lacks: string])[] = [
    [`203.0.114.7 - - ${at} "GET / HTTP/1.1" 200 1`, 'a user agent'],
    ['#Fields: date time c-ip cs-method cs-uri-stem\n2026-11-21 10:00:00 203.0.114.7 GET /', 'a user agent'],
    ['2026-11-21 10:00:00 W3SVC1 10.0.0.1 GET / - 443 - 203.0.114.7 curl/8.5.0 - 200 0 0 15', 'a request'],
    ['a line of nothing', 'a request'],
  ]
  for (const [line, lacks] of rows) {
    const log = written(folder, 'b.log', line)
    t.match(await run('replay', log, '--policy', policy, '--config', config), {
      code: 1,
      out: '',
      err: `none of 1 line can be evaluated: 1 without ${lacks}. replay reads the combined form, W3C with its line #Fields:`,
    })
  }
})

t.test('a line without a user agent says nothing of the other headers', async (t) => {
  const { folder, config } = workspace(t)
  const line = '203.0.114.7 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"'
  const policy = written(
    folder,
    'p.yaml',
    'rules: [{ id: bare, match: { header: { absent: [accept-language] } }, action: block }]',
  )
  const log = written(folder, 'bare.log', line)
  const { out } = await run('replay', log, '--policy', policy, '--format', 'combined', '--json', '--config', config)
  t.match(JSON.parse(out), { requests: 1, classes: [{ after: { block: 0 } }] })
})

t.test('rules that a log leaves open are named, with what it lacks and in how many lines', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(
    folder,
    'p.yaml',
    'rules:',
    '  - { id: cookie, match: { path: [/login], not: { cookie: { s: ["*"] } } }, action: block }',
    '  - { id: print, match: { ja4: [program], header: { absent: [accept] } }, action: flag }',
    '  - { id: page, match: { query: { page: ["1"] } }, action: flag }',
    '  - { id: bare, match: { path: [/b], behaviour: { pagesWithoutFiles: { atLeast: 1 } } }, action: block }',
    '  - { id: busy, match: { path: [/b], not: { behaviour: { differentPages: { atLeast: 9 } } } }, action: block }',
    '  - { id: alike, match: {}, limit: { key: likeness, max: 1, window: 1h }, action: block }',
  )
  const line = (target: string) =>
    `203.0.114.7 - - [21/Nov/2026:10:00:00 +0000] "GET ${target} HTTP/1.1" 200 1 "-" "curl/8.5.0"`
  const log = written(folder, 'a.log', line('/login'), line('/?page=1'), line('/'), line('/b'))
  const replay = (...more: readonly string[]) => run('replay', log, '--policy', policy, '--config', config, ...more)
  t.match(JSON.parse((await replay('--json')).out), {
    requests: 4,
    classes: [{ after: { block: 0 } }],
    unjudged: [
      { rule: 'print', words: ['header', 'ja4'], requests: 4 },
      { rule: 'alike', words: ['behaviour'], requests: 4 },
      { rule: 'cookie', words: ['cookie'], requests: 1 },
      { rule: 'bare', words: ['behaviour'], requests: 1 },
      { rule: 'busy', words: ['behaviour'], requests: 1 },
    ],
  })
  const { out } = await replay()
  t.match(out, /^Rule cookie is not judged in 1 of 4 requests: the log has no cookie\.$/m)
  t.match(out, /^Rules alike, bare, busy are not judged in up to 4 of 4 requests: the log has no behaviour\.$/m)
  t.match(out, /verdicts use only user agent, address and path\.$/m)
})

t.test('a log of the addresses of a proxy says so, with the cure', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const line = (address: string) =>
    `${address} - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8.5.0"`
  const replay = async (...addresses: readonly string[]) => {
    const log = written(folder, 'a.log', ...addresses.map(line))
    const [text, object] = [[], ['--json']].map((more) =>
      run('replay', log, '--policy', policy, '--config', config, ...more),
    )
    return { text: (await text)?.out, proxied: JSON.parse((await object)?.out ?? '').proxied }
  }
  for (const address of ['172.17.0.1', '10.0.0.1', '127.0.0.1', 'fd00::1', '172.64.0.1', '2606:4700::1']) {
    const { text, proxied } = await replay(address, address, '203.0.114.7')
    t.match(
      text,
      `2 of 3 requests come from a proxy or a private network (${address}). If the log has an X-Forwarded-For column, add the proxy to trustProxy.`,
    )
    t.same(proxied, { requests: 2, address })
  }
  const { text, proxied } = await replay('10.0.0.1', '203.0.114.7', '203.0.114.8')
  t.notMatch(text, 'proxy')
  t.equal(proxied, undefined, 'a monitor of our own network is none')
})

t.test('the lines of a log are decided in the order of their times', async (t) => {
  const { folder, config } = workspace(t)
  const rule = '{ id: slow, match: {}, limit: { key: client, max: 2, window: 1m }, action: throttle }'
  const policy = written(folder, 'p.yaml', `rules: [${rule}]`)
  const lines = Array.from({ length: 9 }, (_, minute) => {
    return `203.0.114.7 - - [21/Nov/2026:10:0${minute}:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8.5.0"`
  })
  for (const [order, some] of Object.entries({
    newest: lines.toReversed(),
    merged: [...lines.slice(5), ...lines.slice(0, 5)],
  })) {
    const log = written(folder, `${order}.log`, ...some)
    const { out } = await run('replay', log, '--policy', policy, '--json', '--config', config)
    t.match(JSON.parse(out), { requests: 9, late: 0, classes: [{ after: { throttle: 0 } }] }, order)
  }
})

t.test('a line that is out of order by more than is kept in memory is said', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const line = (day: number) =>
    `203.0.114.7 - - [${day}/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8.5.0"\n`
  const log = written(folder, 'long.log', line(21).repeat(2 * HELD) + line(20))
  const { out } = await run('replay', log, '--policy', policy, '--config', config)
  t.match(out, /^1 line out of order by more than 100,000 lines: limits may count wrongly\. Sort the log by time\.$/m)
})

t.test('the client of a trusted proxy is read from the column of its header', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const line = `10.1.2.3 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "${FIREFOX}"`
  const timed = `${line} rt=0.01 "a.example" "185.220.101.10" 10.0.0.7:80`
  const log = written(folder, 'main.log', `${line} "185.220.101.10, 10.9.9.9"\n${timed}`)
  const trusting = written(folder, 'trusting.yaml', readFileSync(config, 'utf8'), 'trustProxy: [private]')
  const replay = async (file: string) => {
    const { out } = await run('replay', log, '--policy', policy, '--json', '--config', file)
    return JSON.parse(out)
  }
  t.match(await replay(trusting), { requests: 2, proxied: undefined })
  t.match(await replay(config), { requests: 2, proxied: { requests: 2, address: '10.1.2.3' } })
})

t.test('standard input is -, and a packed log that is cut short says so', async (t) => {
  const { folder, config } = workspace(t)
  const policy = written(folder, 'p.yaml', 'preset: observe')
  const line = '203.0.114.7 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "curl/8.5.0"'
  const piped = piping(gzipSync(line), 'replay', '-', '--policy', policy, '--config', config, '--json')
  t.match(JSON.parse(piped.stdout), { requests: 1, unread: 0 })
  t.match(piping('hello', 'replay', '-', '--policy', policy, '--config', config), {
    status: 1,
    stderr: 'standard input: none of 1 line can be evaluated',
  })
  const cut = join(folder, 'cut.log.gz')
  writeFileSync(cut, gzipSync(`${line}\n`.repeat(5)).subarray(0, -4))
  t.match(await run('replay', cut, '--policy', policy, '--config', config), {
    code: 0,
    out: /^5 requests$/m,
    err: 'cut.log.gz is truncated; it is read up to that point.',
  })
})
