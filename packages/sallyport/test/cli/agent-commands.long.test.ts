import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { open } from '@sallyport/engine'
import { freePort, listening } from '@sallyport/engine/testing'
import t from 'tap'
import { FIREFOX, run, workspace } from './command.ts'

t.test('policy test runs expectations and fails where one is not met', async (t) => {
  const { command, object, write } = workspace(t)
  const good = `policy: { preset: observe, rules: [{ id: night, match: { time: { from: "22:00" } }, action: block }] }
tests:
  - { name: night, request: { ip: 8.8.8.8 }, at: "2026-11-21T23:00:00Z", expect: { action: block, rule: night, enforced: true } }
  - { name: day, request: { ip: 8.8.8.8, userAgent: curl/8 }, at: "2026-11-21T12:00:00Z", expect: { action: allow, class: unverified_bot, rule: default } }
  - { name: whole, request: { ip: 8.8.8.8, scheme: https, headers: { User-Agent: "${FIREFOX}", Accept-Language: en } }, at: "2026-11-21T12:00:00Z", expect: { class: human } }
`
  const passed = await command('policy', 'test', write('good.yaml', good))
  t.match(passed, { code: 0, out: /^ok +night\nok +day\nok +whole\n3 expectations met\n$/ })
  const bad = write('bad.yaml', good.replace('action: block, rule: night', 'action: flag, rule: night'))
  t.match(await command('policy', 'test', bad), {
    code: 1,
    out: /^failed +night: action is block, not flag$/m,
    err: /1 of 3 expectations not met/,
  })
  const told = await object('policy', 'test', bad)
  t.match(told, [{ name: 'night', passed: false, wrong: [/block/] }, { passed: true }, { passed: true }])
})

t.test('policy test begins at one time of the week, knows visitors by name, and writes for a CI', async (t) => {
  const { command, write } = workspace(t)
  const rules = [
    '{ id: monday, match: { path: [/m], time: { from: "11:59", to: "12:01", days: [mon] } }, action: block }',
    '{ id: slow, match: { path: [/s] }, limit: { key: client, max: 10, window: 1m }, action: throttle }',
    '{ id: home, match: { path: [/home], address: [73.162.10.20] }, action: block }',
    '{ id: proven, match: { identity: ["https://chatgpt.com"] }, action: block }',
  ]
  const tests = [
    '{ name: "a <time> #1", request: { ip: 8.8.8.8, path: /m }, expect: { action: block } }',
    '{ name: twelfth, request: { ip: 8.8.8.8, path: /s, as: browser }, times: 12, every: 5s, expect: { action: throttle, class: human } }',
    '{ name: wrong, request: { as: gptbot }, expect: { class: human } }',
    '{ name: home, request: { as: browser, path: /home }, expect: { action: block, rule: home } }',
    '{ name: signed, request: { as: chatgpt-agent, path: /a }, times: 2, expect: { action: block, rule: proven } }',
  ]
  const policy = `policy: { preset: observe, rules: [${rules.join(', ')}] }`
  const file = write('ci.yaml', `${policy}\ntests: [${tests.join(', ')}]`)
  t.match(await command('policy', 'test', file, '--format', 'tap'), {
    code: 1,
    out: /^TAP version 14\n1\.\.5\nok 1 - a <time> \\#1\nok 2 - twelfth\nnot ok 3 - wrong\n# class is \w+, not human\nok 4 - home\nok 5 - signed\n$/,
  })
  const { out } = await command('policy', 'test', file, '--format', 'junit')
  t.match(out, '<testsuite name="policy" tests="5" failures="1">')
  t.match(out, '<testcase classname="policy" name="a &lt;time&gt; #1"></testcase>')
  t.match(out, /name="wrong"><failure message="class is \w+, not human"\/>/)
})

t.test('a rule on trial is shown beside the decision, and may be expected', async (t) => {
  const { command, object, write } = workspace(t)
  const policy =
    'policy: { preset: observe, rules: [{ id: try-it, match: { path: [/a] }, action: block, monitor: true }] }'
  const rows = [
    '{ name: tried, request: { ip: 8.8.8.8, path: /a }, expect: { action: allow, rule: default, enforced: true, trial: block } }',
    '{ name: other, request: { ip: 8.8.8.8, path: /b }, expect: { trial: none } }',
    '{ name: wrong, request: { ip: 8.8.8.8, path: /b }, expect: { trial: block } }',
  ]
  t.match(await command('policy', 'test', write('tests.yaml', `${policy}\ntests: [${rows.join(', ')}]`)), {
    code: 1,
    out: /^ok +tried\nok +other\nfailed +wrong: trial is none, not block\n$/,
  })
  const trying = workspace(t, [policy])
  const explained = await trying.command('explain', write('tried.json', { ip: '8.8.8.8', path: '/a' }))
  t.match(explained.out, /^allow\n[\s\S]*^dry run +block by the rule "try-it"$/m)
  const line = { time: '2026-11-21T10:00:00Z', ip: '8.8.8.8', request: 'GET /a HTTP/1.1', user_agent: 'curl/8' }
  const { classes } = await object('replay', write('trial.log', line), '--policy', trying.config)
  t.match(classes, [{ after: { allow: 1, block: 0 }, changed: 0, onTrial: 1 }])
})

t.test('where a flag is what comes of a request, it says that this stops nothing', async (t) => {
  const policy = 'policy: { preset: observe, rules: [{ id: odd, match: { path: [/a] }, action: flag }] }'
  const { command, write } = workspace(t, [policy])
  const said = /blocks nothing. Behind the proxy, the origin can read sallyport-action, or add a rule that blocks/
  for (const path of ['/a', '/b']) {
    const test = `tests: [{ name: it, request: { ip: 8.8.8.8, path: ${path} }, expect: { enforced: true } }]`
    const explained = await command('explain', write('request.json', { ip: '8.8.8.8', path }))
    const tested = await command('policy', 'test', write('one.yaml', test))
    for (const { out } of [explained, tested]) t.equal(said.test(out), path === '/a', out)
  }
})

t.test('a file that cannot be meant is refused by key', async (t) => {
  const { command, write } = workspace(t)
  const test = (text: string) => `tests: [{ name: a, ${text} }]`
  for (const [text, err, code = 2] of [
    ['tests: []', /tests: /],
    [test('request: { ip: 8.8.8.8 }, expect: {}'), /tests\.0\.expect: needs at least one expectation/],
    [test('request: { ip: 8.8.8.8, agent: x }, expect: { action: allow }'), /unknown key "tests\.0\.request\.agent"/],
    ['policy: { preset: loud }\ntests: []', /policy\.preset/],
    ['tests: [', /bad\.yaml/],
    [test('request: { path: / }, expect: { class: human }'), /tests\.0\.request\.ip: is missing/],
    [test('request: { as: nobody }, expect: { class: human }'), /as: "nobody" is not a visitor\. Use one of chatgpt-/],
    [test('request: { ip: nowhere }, expect: { action: allow }'), /nowhere/, 1],
  ] as const)
    t.match(await command('policy', 'test', write('bad.yaml', text)), { code, err }, text)
})

t.test('explain shows the decision about a request or a HAR', async (t) => {
  const { command, object, folder, write } = workspace(t)
  const rest = { 'sec-ch-ua': '"Chromium";v="150"', Accept: 'text/html', 'Accept-Language': 'en' }
  const headers = { 'User-Agent': FIREFOX, ...rest }
  const { code, out } = await command('explain', write('request.json', { ip: '8.8.8.8', path: '/a', headers }))
  t.equal(code, 0)
  for (const says of [
    /^flag\n/,
    /GET \/a/,
    /rule "contradicted"/,
    /unverified_bot/,
    /\+4 +The request has client hints of Chromium/,
    /network +unknown by asn \(no evidence\)\n/,
  ])
    t.match(out, says)
  const reserved = await command('explain', write('reserved.json', { ip: '10.0.0.1', path: '/', headers }))
  t.match(reserved.out, /^network +The client's address is reserved: private; IANA's registries of 2025-10-09$/m)
  const list = Object.entries({ ':authority': 'x', ...headers }).map(([name, value]) => ({ name, value }))
  const entry = { request: { method: 'GET', url: 'https://a.example/b?c', headers: list } }
  const har = write('a.har', { log: { entries: [entry, entry] } })
  const told = await object('explain', har, '--ip', '8.8.8.8')
  t.match(told, [{ action: 'flag', inspection: { request: { path: '/b' } } }, {}])
  t.match(await command('explain', har), { code: 1, err: /no ip\. Pass/ })
  t.match(await command('explain', write('x.json', '{')), { code: 1, err: /not valid JSON/ })
  t.match(await command('explain', join(folder, 'none.json')), { code: 1, err: /does not exist/ })
})

const NONE = { allow: 0, flag: 0, redirect: 0, offer: 0, challenge: 0, throttle: 0, block: 0 }

t.test('replay shows what another policy would have done, by class', async (t) => {
  const { command, object, folder, write } = workspace(t)
  const lines = [
    `8.8.8.8 - - [21/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "${FIREFOX}"`,
    '8.8.8.8 - bob [21/Nov/2026:10:00:00 +0000] "POST /a\\"b HTTP/1.1" 200 1 "-" "Bytespider"',
    'not a line\n',
    '{"time":"2026-11-21T10:00:00Z","ip":"8.8.8.8","request":"GET /x HTTP/1.1","user_agent":"Bytespider"}',
    '{"ip":"nowhere"}\n',
  ]
  const log = write('access.log', lines.join('\n'))
  const policy = write('new.yaml', 'policy: { preset: protect-content }')
  const agents = { before: { ...NONE, flag: 2 }, after: { ...NONE, block: 2 } }
  const people = { before: { ...NONE, allow: 1 }, after: { ...NONE, allow: 1 } }
  t.same(await object('replay', log, '--policy', policy), {
    requests: 3,
    late: 0,
    asked: { before: 0, after: 0 },
    unread: 2,
    lacking: { request: 2 },
    unjudged: ['budget', 'budget-requests'].map((rule) => ({ rule, words: ['pass'], requests: 1 })),
    classes: [
      { class: 'ai_agent', requests: 2, ...agents, changed: 2, onTrial: 0 },
      { class: 'human', requests: 1, ...people, changed: 0, onTrial: 0 },
    ],
  })
  t.match((await command('replay', log, '--policy', policy)).out, /^ai_agent +2 +0 +2 → 0 +0 +0 +0 +0 +0 → 2 +2 +0$/m)
  t.match(await command('replay', join(folder, 'none'), '--policy', policy), { code: 1, err: /does not exist/ })
  t.match(await command('replay', log), { code: 2, err: /--policy/ })
})

t.test('replay reads packed logs, judges hours by the log, and refuses what is no log', async (t) => {
  const { command, object, write } = workspace(t)
  const line = (clock: string) => `8.8.8.8 - - [21/Nov/2026:${clock} +0100] "GET / HTTP/1.1" 200 1 "-" "${FIREFOX}"\n`
  const json = `{"ip":"8.8.8.8","path":"/","time":"2026-11-21T22:30:00Z","user_agent":"${FIREFOX}"}\n`
  const log = write(
    'access.log.gz',
    gzipSync(`${line('12:00:00')}${line('23:00:00')}${'x'.repeat(3_000_000)}\n${line('23:59:59')}${json}`),
  )
  const rule = '{ id: night, match: { time: { from: "22:00" } }, action: block }'
  const policy = write('new.yaml', `policy: { preset: observe, rules: [${rule}] }`)
  const told = await object('replay', log, '--policy', policy)
  t.match(told, { requests: 4, unread: 1, classes: [{ class: 'human', after: { allow: 1, block: 3 }, changed: 3 }] })
  const brackets = '['.repeat(200_000)
  for (const [name, content, err] of [
    ['cut.log.gz', gzipSync(line('12:00:00')).subarray(0, 30), /cut\.log\.gz is truncated and cannot be read\.$/m],
    ['none.log', `${brackets}\n{"ip":${brackets}${']'.repeat(200_000)}}\n\u0000\n`, /none of 3 lines can be evaluated/],
  ] as const)
    t.match(await command('replay', write(name, content), '--policy', policy), { code: 1, err })
})

t.test('explain refuses what it would not use, by name, and writes nothing that commands a terminal', async (t) => {
  const { command, write } = workspace(t)
  const explain = (request: unknown) => command('explain', write('r.json', request))
  const ip = '8.8.8.8'
  for (const [request, says] of [
    [{ ip, user_agnt: 'x' }, /unknown key "user_agnt"; did you mean "userAgent"\?/],
    [{ ip, Headers: {} }, /unknown key "Headers"; did you mean "headers"\?/],
    [{ ip: 7 }, /ip: expected string/],
    [{ ip, headers: 'x' }, /headers: expected record/],
    [{ ip, headers: { accept: [7] } }, /headers\.accept\b/],
    [{ ip, headless_flags: { webdriver: 1 } }, /headless_flags\.webdriver: /],
    [{ ip, headless_flags: true }, /headless_flags: /],
    [[{ ip }], /request: must be an object/],
    [{ log: { entries: [] } }, /log\.entries: contains no request/],
    [{ log: { entries: [7] } }, /request: must be an object/],
  ] as const)
    t.match(await explain(request), { code: 1, err: says }, JSON.stringify(request))
  const { out } = await explain({ ip, method: 'G\u001b[2JET', path: '/\u001b[31m/caf\u00e9' })
  t.match(out, /G\\x1b\[2JET \/%1B%5B31m\/caf%C3%A9/)
  const seen = await explain({ ip, headers: { 'User-Agent': FIREFOX }, headless_flags: { webdriver: true } })
  t.match(seen.out, /The caller found webdriver/)
})

t.test('simulate signs with a throw-away key, and is believed where its keys are', async (t) => {
  const { command } = workspace(t)
  const simulate = async (...argv: readonly string[]) => (await command('simulate', '--as', ...argv)).out
  t.match(await simulate('chatgpt-agent'), /^allow\n(.*\n)*identity +https:\/\/chatgpt\.com \(verified\)$/m)
  t.match(await simulate('google-agent'), /agent\.bot\.goog \(verified\)/)
  t.match(await simulate('posing-browser'), /^flag\n/)
  t.match(await simulate('browser'), /^allow\n(?:.*\n)*^from +73\.162\.10\.20,/m)
  const ruled = workspace(t, [
    'policy:',
    '  rules:',
    '    - { id: no-login, action: block, match: { path: [/login], method: [POST] } }',
    '    - { id: scripted, action: block, match: { header: { absent: [accept-language] } } }',
  ])
  const simulated = async (...argv: readonly string[]) => (await ruled.command('simulate', '--as', ...argv)).out
  t.match(await simulated('browser', '--method', 'post', '--path', '/login?a=b'), /^block\n.*\n.*"no-login"/)
  t.match(await simulated('browser', '--path', '/login'), /^allow\n/)
  t.match(await simulated('scripted-chrome'), /^block\n.*\n.*"scripted"/)
  for (const [argv, err] of [
    [['curl', '--path', 'login'], '--path'],
    [['curl', '--method', 'GET /'], '--method'],
    [['curl', '--method', 'connect'], '--method'],
    [['curl', '--path', '/a', '--url', 'http://127.0.0.1:9/'], '--url'],
    [['curl', '--url', 'ftp://a'], /http or https/],
    [['nobody'], /Allowed choices are chatgpt-agent/],
  ] as const)
    t.match(await run('simulate', '--as', ...argv), { code: 2, err }, argv.join(' '))
})

t.test('simulate against a server: unverified at first, verified when the keys are fetched', async (t) => {
  const { folder, object } = workspace(t)
  const identities: unknown[] = []
  const directoryPort = await freePort()
  const sallyport = await open({
    dataDir: join(folder, 'server'),
    data: { refresh: false },
    webBotAuth: { agents: [`http://127.0.0.1:${directoryPort}`] },
    net: { allowPrivate: ['127.0.0.0/8'] },
  })
  t.teardown(() => sallyport.close())
  // The keys are looked for at the start, when no server serves them yet; a server for tests is asked again soon.
  await new Promise((resolve) => setTimeout(resolve, 600))
  const server = createServer(({ method = '', url: target = '', httpVersion, rawHeaders: fields }, response) => {
    const request = { peer: '127.0.0.1', method, target, scheme: 'http', httpVersion, fields } as const
    identities.push(sallyport.inspect(request).agent.identity)
    response.end()
  })
  const url = `http://127.0.0.1:${await listening(t, server)}/page?a=b`
  const port = ['--directory-port', String(directoryPort)]
  t.match(await object('simulate', '--as', 'chatgpt-agent', '--url', url, ...port), {
    keysFetched: true,
    statuses: [200, 200],
  })
  t.match(identities, [
    { type: 'signature', verified: false },
    { type: 'signature', verified: true },
  ])
})
