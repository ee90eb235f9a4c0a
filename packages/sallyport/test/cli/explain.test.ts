import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { piping, run, workspace } from './command.ts'

/** Chrome sends these fields in this spelling. */
const CHROME: Readonly<Record<string, string>> = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  Accept: 'text/html',
  'Accept-Language': 'en',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
}

const lower = Object.fromEntries(Object.entries(CHROME).map(([name, value]) => [name.toLowerCase(), value]))

/** Explains descriptions of requests, under these lines of a configuration. */
function openExplain(t: Test, lines: readonly string[] = []) {
  const { command, write } = workspace(t, lines)
  const asked = (value: unknown, ...more: readonly string[]) =>
    command('explain', write('request.json', value), ...more)
  const explain = async (value: unknown, ...more: readonly string[]) => {
    const { code, out, err } = await asked(value, ...more)
    t.equal(code, 0, err)
    return out
  }
  return { asked, command, explain, write }
}

t.test('names over HTTP/2 have no spelling to judge, and over HTTP/1 they have', async (t) => {
  const { explain } = openExplain(t)
  const har = (httpVersion: string | undefined, headers: Readonly<Record<string, string>>, pseudo = '') => {
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }))
    const all = pseudo === '' ? list : [{ name: pseudo, value: 'a' }, ...list]
    const request = { method: 'GET', url: 'https://a.example/', httpVersion, headers: all }
    return explain({ log: { entries: [{ request }] } }, '--ip', '203.0.114.7')
  }
  const said = /The case or the order of the header names does not match this browser/
  for (const version of ['HTTP/2.0', 'HTTP/2', 'h2', 'http/2.0', 'h3', 'HTTP/3', 'http/2+quic/46', '', 'unknown']) {
    t.notMatch(await har(version, lower), said, version)
    t.notMatch(
      await har(version, { ...CHROME, 'User-Agent': '', 'USER-AGENT': CHROME['User-Agent'] ?? '' }),
      said,
      version,
    )
  }
  t.notMatch(await har(undefined, lower, ':authority'), said, 'pseudo-headers are those of HTTP/2')
  const odd = Object.fromEntries(
    Object.entries(CHROME).map(([name, value]) => [name === 'User-Agent' ? 'user-agent' : name, value]),
  )
  t.match(await har('HTTP/1.1', odd), said)
  t.notMatch(await har('HTTP/1.1', CHROME), said)
  t.notMatch(await explain({ ip: '203.0.114.7', headers: lower }), said, 'as a map of Node or of Fetch has them')
  t.match(await explain({ ip: '203.0.114.7', headers: odd }), said)
})

t.test('a member of a request in another spelling is named', async (t) => {
  const { asked } = openExplain(t)
  for (const [name, meant] of Object.entries({ useragent: 'userAgent', user_agnt: 'userAgent', Headers: 'headers' }))
    t.match(await asked({ ip: '203.0.114.7', [name]: 'x' }), {
      code: 1,
      err: `request.json: unknown key "${name}"; did you mean "${meant}"?`,
    })
})

t.test('a path that is a decoy or a probe is named as one', async (t) => {
  const { explain } = openExplain(t, ['decoys: { paths: [/trap, /b] }'])
  const ip = '8.8.8.8'
  t.match(
    await explain({ ip, path: '//TRAP' }),
    /path +a decoy, which is a strike if policy\.strikes\.on lists decoy\n/,
  )
  t.match(
    await explain({ ip, path: '/shop/.env' }),
    /path +a scanner probe, which scanner-guard counts: settings of a framework/,
  )
  t.notMatch(await explain({ ip, path: '/' }), /probe|decoy/)
})

t.test('what nobody says of a request is not known, and the rules that ask it are named', async (t) => {
  const { asked, command, explain, write } = openExplain(t, [
    'policy:',
    '  preset: observe',
    '  rules:',
    '    - { id: busy, match: { load: { atLeast: 0.8 } }, action: block }',
    '    - { id: idle, match: { not: { load: { atLeast: 0.8 } } }, action: block }',
    '    - { id: old, match: { httpVersion: ["1.0"] }, action: flag, weight: 3 }',
    '    - { id: new, match: { httpVersion: ["2"] }, action: flag, weight: 4 }',
    '    - { id: shop, match: { host: [shop.example] }, action: flag, weight: 5 }',
    '    - { id: twice, match: { cookie: { a: ["2"] } }, action: block }',
  ])
  const said = { ip: '203.0.114.7', headers: { 'user-agent': 'x', accept: '*/*' } }
  const bare = await explain(said)
  for (const line of ['busy: load is', 'idle: load is', 'old: httpVersion is', 'new: httpVersion is', 'shop: host is'])
    t.match(bare, `not judged  rule ${line} unknown`, line)
  t.match(bare, /^allow\n/)
  t.notMatch(bare, 'rule twice')
  t.match(await explain({ ip: '203.0.114.7', userAgent: 'x' }), 'not judged  rule twice: cookie is unknown')
  t.match(await explain({ ...said, load: 1 }), /^block\n[\s\S]*rule "busy"/)
  t.match(await explain({ ...said, load: 0.1 }), /^block\n[\s\S]*rule "idle"/)
  t.match(
    await explain({ ...said, httpVersion: 'HTTP/2.0', host: 'shop.example:8443' }),
    /add up to 9: "new" 4, "shop" 5/,
  )
  t.match(await explain({ ...said, headers: { ...said.headers, host: 'shop.example' } }), /add up to 5: "shop" 5/)
  const cookies = { ...said, headers: { ...said.headers, cookie: ['a=1', 'a=2'] } }
  t.match(await explain(cookies), /^block\n[\s\S]*rule "twice"/)
  const har = (...more: readonly object[]) => {
    const headers = [{ name: ':authority', value: 'shop.example' }, { name: 'cookie', value: 'a=1' }, ...more]
    return {
      log: { entries: [{ request: { method: 'GET', url: 'https://other.example/', httpVersion: 'h2', headers } }] },
    }
  }
  const ip = ['--ip', '203.0.114.7'] as const
  t.match(await explain(har(), ...ip), /add up to 9/)
  t.match(await explain(har({ name: 'cookie', value: 'a=2' }), ...ip), /^block\n[\s\S]*rule "twice"/)
  t.match(await asked({ ...said, load: 'much' }), { err: /load: expected number, received string/ })

  const request = 'ip: 203.0.114.7, headers: { cookie: ["a=1", "a=2"] }'
  const tests = write(
    'tests.yaml',
    `tests:
  - { name: twice, request: { ${request} }, expect: { rule: twice } }
  - { name: busy, request: { ${request}, load: 0.9, host: shop.example, httpVersion: "2" }, expect: { rule: busy } }`,
  )
  t.notMatch((await command('policy', 'test', tests)).out, 'not judged')
  const { code, out } = await command('policy', 'test', tests, '--verbose')
  t.equal(code, 0)
  t.match(out, /^ok {6}twice\n {8}not evaluated: rule busy: load is unknown\n[\s\S]*^ok {6}busy\n2 expectations met$/m)
})

t.test('a pass is said, or that there is none, and how a rule asks', async (t) => {
  const policy =
    'policy: { preset: observe, rules: [{ id: ask, match: {}, action: challenge, challenge: { level: 2, pass: 6h } }] }'
  const { asked, explain } = openExplain(t, [policy])
  const request = { ip: '203.0.114.7', headers: CHROME }
  const bare = await explain(request)
  for (const line of [/^challenge\n/, /^asks +level 2, for a pass of 6h$/m, /^pass +none$/m]) t.match(bare, line)
  t.match(await explain({ ...request, pass: { level: 2, age: 300 } }), /^allow\n[\s\S]*^pass +level 2, 5 minutes old$/m)
  t.match(await asked({ ...request, pass: { level: 9 } }), {
    code: 1,
    err: /pass\.level: Invalid option: expected one of 1\|2\|3/,
  })
})

t.test('a HAR may begin with a mark of its encoding, and what never left the browser is left out', async (t) => {
  const { command, folder } = workspace(t)
  const file = join(folder, 'site.har')
  const sent = ['https://a.example/page', 'wss://a.example/socket']
  const urls = [...sent, 'data:image/png;base64,AAAA', 'blob:https://a.example/1', 'about:blank']
  const entries = urls.map((url) => ({ request: { method: 'GET', url, httpVersion: 'h2', headers: [] } }))
  writeFileSync(file, `\ufeff${JSON.stringify({ log: { entries } })}`)
  const { code, out, err } = await command('explain', file, '--ip', '203.0.114.7')
  t.equal(code, 0, err)
  t.match(err, /^sallyport: skipped 3 entries without an HTTP request\.$/m)
  t.match(out, /GET \/page[\s\S]*GET \/socket/, 'a WebSocket left it')
  t.notMatch(out, /GET \/$/m)
  writeFileSync(file, JSON.stringify({ log: { entries: entries.slice(sent.length) } }))
  t.match(await command('explain', file, '--ip', '203.0.114.7'), { code: 1, err: /contains no request/ })
})

t.test('a log of which no line is read has no request either, and says that', async (t) => {
  const { command, write } = workspace(t)
  const log = write('access.log', 'no line of a log\n')
  t.match(await command('explain', '--request', 'r1', '--log', log), {
    code: 1,
    err: /access\.log is not a decision log/,
  })
})

t.test('standard input is -', async (t) => {
  const { config } = workspace(t)
  const request = JSON.stringify({ ip: '203.0.114.7', userAgent: 'curl/8.5.0' })
  t.match(piping(`\ufeff${request}`, 'explain', '-', '--config', config), {
    status: 0,
    stdout: 'declares a program: "curl"',
  })
  t.match(piping('{', 'explain', '-', '--config', config), { status: 1, stderr: 'standard input is not valid JSON' })
})

t.test('a JA4 is shown with the header that named it', async (t) => {
  const { folder, explain } = { ...workspace(t), ...openExplain(t) }
  const log = join(folder, 'decisions.log')
  const options = {
    dataDir: join(folder, 'proxied'),
    data: { refresh: false },
    log: { requests: 'all', file: log },
  } as const
  const sallyport = await open({ ...options, trustProxy: ['loopback'], ja4Header: 'CF-JA4' }, { onNotice() {} })
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  const fields = ['Host', 'a.example', 'X-Forwarded-For', '8.8.8.8', 'CF-JA4', ja4]
  const asked = { peer: '127.0.0.1', method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields } as const
  const seen = {
    peer: '127.0.0.1',
    client: '8.8.8.8',
    method: 'GET',
    host: 'a.example',
    path: '/',
    status: 200,
  } as const
  const times = { at: Date.now(), milliseconds: 1 }
  for (const [id, named] of [
    ['proxied', sallyport.namedJa4(asked)?.header],
    ['direct', undefined],
  ] as const) {
    const decision = sallyport.decide({ ...asked, ja4, ja4Header: named })
    sallyport.observe({ ...seen, ...times, id, decision, ja4, ja4Header: named, answeredBy: 'host' })
  }
  await sallyport.close()
  t.match((await run('explain', '--request', 'proxied', '--log', log)).out, `${ja4}, by the header cf-ja4\n`)
  t.match((await run('explain', '--request', 'direct', '--log', log)).out, `${ja4}, from TLS terminated here\n`)
  t.match(await explain({ ip: '8.8.8.8', userAgent: 'curl/8.5.0', ja4 }), `${ja4}\n`, 'as described')
})

t.test('a ban is explained by its offences, its end and how to lift it', async (t) => {
  const { folder } = workspace(t)
  const log = join(folder, 'decisions.log')
  const dataDir = join(folder, 'banned')
  const sallyport = await open(
    {
      dataDir,
      data: { refresh: false },
      trustProxy: ['loopback'],
      log: { requests: 'all', file: log },
      policy: {
        preset: 'observe',
        rules: [{ id: 'no', match: { path: ['/no'] }, action: 'block' }],
        strikes: { count: 3, window: '1h', on: ['blocked', 'status:404'], for: '1d' },
      },
    },
    { onNotice() {} },
  )
  const fields = ['Host', 'a.example', 'X-Forwarded-For', '8.8.8.8']
  const visit = async (target: string, status: number) => {
    const asked = { peer: '127.0.0.1', method: 'GET', target, scheme: 'https', httpVersion: '1.1', fields } as const
    const { decision, ended } = await sallyport.count(sallyport.decide(asked), fields)
    ended?.(status)
    const seen = { peer: '127.0.0.1', client: '8.8.8.8', method: 'GET', host: 'a.example', status, at: Date.now() }
    sallyport.observe({ ...seen, id: 'banned-1', decision, path: target, answeredBy: 'refusal', milliseconds: 1 })
    return decision
  }
  for (const [target, status] of [
    ['/a', 404],
    ['/b', 404],
    ['/no', 403],
  ] as const)
    await visit(target, status)
  let ban = (await sallyport.bans.list())[0]
  while (ban === undefined) {
    await new Promise((resolve) => setImmediate(resolve))
    ban = (await sallyport.bans.list())[0]
  }
  const { id, until } = ban
  t.match(await visit('/', 403), { action: 'block', ban: { id, strikes: ['1 blocked', '2 status:404'] } })
  const listed = await run('bans', 'list', '--data-dir', dataDir)
  t.match(listed.out, /3 strikes: 1 blocked, 2 status:404/)
  await sallyport.close()
  const { out, err } = await run('explain', '--request', 'banned-1', '--log', log)
  const end = new Date(until).toISOString()
  t.match(out, new RegExp(`banned +until ${end}: 1 blocked, 2 status:404\\n`), err)
  t.match(out, `sallyport bans lift ${id}`)
  t.match(out, /a program +probability [\d.]+\n/)
  t.match(await run('bans', 'lift', id, '--data-dir', dataDir), { code: 0 })
})
