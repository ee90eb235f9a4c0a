import { join } from 'node:path'
import type { ObservedRequest } from '@sallyport/core'
import { createLog } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { piping, run, workspace } from './command.ts'
import { observed } from './observed.ts'

/** Chrome sends these fields in this spelling. */
const CHROME: Readonly<Record<string, string>> = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  Accept: 'text/html',
  'Accept-Language': 'en',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
}
const lower = Object.fromEntries(Object.entries(CHROME).map(([name, value]) => [name.toLowerCase(), value]))
const { 'User-Agent': agent, ...others } = CHROME
const odd = { 'user-agent': agent ?? '', ...others }

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
  for (const version of ['HTTP/2.0', 'h2', 'http/2.0', 'h3', 'HTTP/3', 'http/2+quic/46', '', 'unknown']) {
    t.notMatch(await har(version, lower), said, version)
    t.notMatch(await har(version, { ...others, 'USER-AGENT': agent ?? '' }), said, version)
  }
  t.notMatch(await har(undefined, lower, ':authority'), said, 'pseudo-headers are those of HTTP/2')
  t.match(await har('HTTP/1.1', odd), said)
  t.notMatch(await har('HTTP/1.1', CHROME), said)
  t.notMatch(await explain({ ip: '203.0.114.7', headers: lower }), said, 'as a map of Node or of Fetch has them')
  t.match(await explain({ ip: '203.0.114.7', headers: odd }), said)
})

t.test('a path that is a decoy or a probe is named as one', async (t) => {
  const { explain } = openExplain(t, ['decoys: { paths: [/trap, /b] }'])
  const ip = '8.8.8.8'
  const decoy = /path +a decoy, which is a strike if policy\.strikes\.on lists decoy\n/
  t.match(await explain({ ip, path: '//TRAP' }), decoy)
  const probe = /path +a scanner probe, which scanner-guard counts: settings of a framework/
  t.match(await explain({ ip, path: '/shop/.env' }), probe)
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
  const known = await explain({ ...said, httpVersion: 'HTTP/2.0', host: 'shop.example:8443' })
  t.match(known, /add up to 9: "new" 4, "shop" 5/)
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
  t.match(await asked({ ...request, pass: { level: 9 } }), { code: 1, err: /pass\.level: Invalid option: .* 1\|2\|3/ })
})

t.test('a HAR may begin with a mark of its encoding, and what never left the browser is left out', async (t) => {
  const { command, write } = workspace(t)
  const sent = ['https://a.example/page', 'wss://a.example/socket']
  const urls = [...sent, 'data:image/png;base64,AAAA', 'blob:https://a.example/1', 'about:blank']
  const entries = urls.map((url) => ({ request: { method: 'GET', url, httpVersion: 'h2', headers: [] } }))
  const file = write('site.har', `\ufeff${JSON.stringify({ log: { entries } })}`)
  const { code, out, err } = await command('explain', file, '--ip', '203.0.114.7')
  t.equal(code, 0, err)
  t.match(err, /^sallyport: skipped 3 entries without an HTTP request\.$/m)
  t.match(out, /GET \/page[\s\S]*GET \/socket/, 'a WebSocket left it')
  t.notMatch(out, /GET \/$/m)
  write('site.har', { log: { entries: entries.slice(sent.length) } })
  t.match(await command('explain', file, '--ip', '203.0.114.7'), { code: 1, err: /contains no request/ })
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

/** Writes a decision log of these requests, and explains each of them. */
async function explainLogged(t: Test, ...requests: readonly ObservedRequest[]) {
  const file = join(t.testdir(), 'decisions.log')
  const log = createLog({ requests: 'all', addresses: 'full', sample: 1, format: 'plain', file })
  for (const request of requests) log.observe(request)
  await log.close()
  return Promise.all(requests.map(async ({ id }) => (await run('explain', '--request', id, '--log', file)).out))
}

t.test('a JA4 is shown with the header that named it', async (t) => {
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  const direct = { ...observed('direct', 'allow'), ja4 }
  const [proxied = '', itself = ''] = await explainLogged(t, { ...direct, id: 'proxied', ja4Header: 'cf-ja4' }, direct)
  t.match(proxied, `${ja4}, by the header cf-ja4\n`)
  t.match(itself, `${ja4}, from TLS terminated here\n`)
  const { explain } = openExplain(t)
  t.match(await explain({ ip: '8.8.8.8', userAgent: 'curl/8.5.0', ja4 }), `${ja4}\n`, 'as described')
})

t.test('a ban is explained by its offences, its end and how to lift it', async (t) => {
  const ban = { id: 'b1', until: Date.UTC(2026, 10, 2), strikes: ['1 blocked', '2 status:404'] }
  const [out = ''] = await explainLogged(t, observed('banned', 'block', { ban }))
  t.match(out, /^banned +until 2026-11-02T00:00:00\.000Z: 1 blocked, 2 status:404$/m)
  t.match(out, 'sallyport bans lift b1')
  t.match(out, /a program +probability [\d.]+\n/)
})

const RULE = '{ id: no-delete, match: { path: [/mcp], mcp: { name: [delete] } }, action: block }'
const LINES = ['policy:', '  preset: observe', `  rules: [${RULE}]`]
const ASKED = { ip: '203.0.114.7', method: 'POST', path: '/mcp' }

t.test('explain judges the calls that a request is described with', async (t) => {
  const { command, write } = workspace(t, LINES)
  const explain = async (request: object) => command('explain', write('request.json', request))
  const blocked = await explain({ ...ASKED, mcp: ['tools/call search', 'tools/call delete'] })
  t.match(blocked.out, /calls +tools\/call search, tools\/call delete/)
  t.match(blocked.out, 'The policy\'s rule "no-delete" matches.')
  t.notMatch((await explain({ ...ASKED, mcp: ['tools/call search'] })).out, 'no-delete')
  t.match((await explain(ASKED)).out, /not judged +.*no-delete.*mcp/, 'a POST of which nobody says what it calls')
  t.notMatch((await explain({ ...ASKED, method: 'GET' })).out, 'not judged')
  t.match(await explain({ ...ASKED, mcp: 'tools/call' }), { code: 1, err: /mcp: expected array/ })
  t.match(await explain({ ...ASKED, mcp: [7] }), { code: 1, err: /mcp\.0: expected string/ })
})

t.test('replay judges the calls of the decision log', async (t) => {
  const { object, write } = workspace(t)
  const line = { time: '2026-11-25T02:40:00.000Z', requestId: 'a', action: 'allow', client: '203.0.114.7' }
  const rest = {
    method: 'POST',
    host: 'site.example',
    path: '/mcp',
    userAgent: 'client/1.0',
    status: 200,
    milliseconds: 1,
  }
  const lines = [{ mcp: ['tools/call delete'] }, { mcp: ['tools/call search'] }, {}].map((mcp) =>
    JSON.stringify({ ...line, ...rest, answeredBy: 'origin', ...mcp }),
  )
  const policy = write('new.yaml', `preset: observe\nrules: [${RULE}]\n`)
  t.match(await object('replay', write('decisions.log', `${lines.join('\n')}\n`), '--policy', policy), {
    requests: 3,
    classes: [{ after: { allow: 2, block: 1 } }],
    unjudged: [{ rule: 'no-delete', requests: 1, words: ['mcp'] }],
  })
})
