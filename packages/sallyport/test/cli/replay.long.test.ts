import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { HELD } from '../../src/cli/log/access/sort-lines.ts'
import { FIREFOX, piping, workspace } from './command.ts'

const writeLine = (target = '/', agent = 'curl/8.5.0', address = '203.0.114.7', clock = '21/Nov/2026:10:00:00') =>
  `${address} - - [${clock} +0000] "GET ${target} HTTP/1.1" 200 1 "-" "${agent}"`

/** Has logs decided by a policy, under these lines of a configuration. */
function openReplay(t: Test, policy = 'preset: observe', lines: readonly string[] = []) {
  const { command, object, config, write } = workspace(t, lines)
  const given = ['--policy', write('p.yaml', `${policy}\n`)]
  const writeAccessLog = (log: readonly string[]) => write('a.log', `${log.join('\n')}\n`)
  return {
    config,
    given,
    replay: (log: readonly string[], ...more: readonly string[]) =>
      command('replay', writeAccessLog(log), ...given, ...more),
    tell: (log: readonly string[], ...more: readonly string[]) =>
      object('replay', writeAccessLog(log), ...given, ...more),
  }
}

t.test("Caddy's log: who it was, and when", async (t) => {
  // A script that comes every ten minutes.
  const request = { remote_ip: '203.0.114.7', proto: 'HTTP/2.0', method: 'GET', uri: '/login' }
  const headers = { 'User-Agent': ['python-requests/2.32.3'] }
  const log = Array.from({ length: 12 }, (_, index) => {
    const own = { level: 'info', ts: 1_795_168_800.25 + index * 600, logger: 'http.log.access', msg: 'handled request' }
    return JSON.stringify({ ...own, request: { ...request, headers }, status: 200 })
  })
  const scripts = openReplay(t, 'rules: [{ id: ask, match: { class: [unverified_bot] }, action: challenge }]')
  t.match(await scripts.tell(log), {
    requests: 12,
    unread: 0,
    asked: { before: 0, after: 12 },
    classes: [{ class: 'unverified_bot', requests: 12, after: { challenge: 12 } }],
  })
  t.match((await scripts.replay(log)).out, 'Challenged: at most 0% → 100% of the requests')
})

t.test('a request without a user agent is no person, and a line without a time is none', async (t) => {
  const { replay, tell } = openReplay(t)
  const log = [writeLine('/', '-'), writeLine().replace(/\[.*\]/, '[-]'), 'hello']
  t.match(await tell(log), {
    requests: 1,
    unread: 2,
    lacking: { time: 1, request: 1 },
    classes: [{ class: 'unverified_bot', requests: 1 }],
  })
  t.match((await replay(log)).out, /^1 request\n2 lines not read: 1 without a time, 1 without a request$/m)
  log.push(writeLine())
  t.match((await replay(log, '--format', 'combined')).out, /^2 requests\n2 lines not read/m)
  t.match(await replay(log, '--format', 'json'), {
    code: 1,
    err: /a\.log: none of 4 lines can be evaluated: 4 without a request\. replay reads the combined form/,
  })
  const unknown = /Allowed choices are sallyport, json, w3c, combined/
  t.match(await replay(log, '--format', 'clf'), { code: 2, err: unknown })
})

t.test('rules that a log leaves open are named, with what it lacks and in how many lines', async (t) => {
  const { replay, tell } = openReplay(
    t,
    `rules:
  - { id: cookie, match: { path: [/login], not: { cookie: { s: ["*"] } } }, action: block }
  - { id: print, match: { ja4: [program], header: { absent: [accept] } }, action: flag }
  - { id: page, match: { query: { page: ["1"] } }, action: flag }
  - { id: bare, match: { path: [/b], behaviour: { pagesWithoutFiles: { atLeast: 1 } } }, action: block }
  - { id: busy, match: { path: [/b], not: { behaviour: { differentPages: { atLeast: 9 } } } }, action: block }
  - { id: alike, match: {}, limit: { key: likeness, max: 1, window: 1h }, action: block }`,
  )
  const log = ['/login', '/?page=1', '/', '/b'].map((target) => writeLine(target))
  t.match(await tell(log), {
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
  const { out } = await replay(log)
  t.match(out, /^Rule cookie is not judged in 1 of 4 requests: the log has no cookie\.$/m)
  t.match(out, /^Rules alike, bare, busy are not judged in up to 4 of 4 requests: the log has no behaviour\.$/m)
  t.match(out, /verdicts use only user agent, address and path\.$/m)
  const bare = openReplay(t, 'rules: [{ id: bare, match: { header: { absent: [accept-language] } }, action: block }]')
  const nameless = await bare.tell([writeLine('/', '-')], '--format', 'combined')
  t.match(nameless, { requests: 1, classes: [{ after: { block: 0 } }] }, 'it says nothing of the other headers')
})

t.test('a log of the addresses of a proxy says so, with the cure', async (t) => {
  const { replay, tell } = openReplay(t)
  const list = (...addresses: readonly string[]) => addresses.map((address) => writeLine('/', 'curl/8.5.0', address))
  for (const address of ['172.17.0.1', '127.0.0.1', 'fd00::1', '172.64.0.1', '2606:4700::1']) {
    const log = list(address, address, '203.0.114.7')
    t.match(
      (await replay(log)).out,
      `2 of 3 requests come from a proxy or a private network (${address}). If the log has an X-Forwarded-For column, add the proxy to trustProxy.`,
    )
    t.same((await tell(log)).proxied, { requests: 2, address })
  }
  const log = list('10.0.0.1', '203.0.114.7', '203.0.114.8')
  t.notMatch((await replay(log)).out, 'proxy')
  t.equal((await tell(log)).proxied, undefined, 'a monitor of our own network is none')
})

t.test('the client of a trusted proxy is read from the column of its header', async (t) => {
  const line = writeLine('/', FIREFOX, '10.1.2.3')
  const log = [`${line} "185.220.101.10, 10.9.9.9"`, `${line} rt=0.01 "a.example" "185.220.101.10" 10.0.0.7:80`]
  const trusting = openReplay(t, 'preset: observe', ['trustProxy: [private]'])
  t.match(await trusting.tell(log), { requests: 2, proxied: undefined })
  t.match(await openReplay(t).tell(log), { requests: 2, proxied: { requests: 2, address: '10.1.2.3' } })
})

t.test('the lines of a log are decided in the order of their times, as far as they are kept', async (t) => {
  const rule = '{ id: slow, match: {}, limit: { key: client, max: 2, window: 1m }, action: throttle }'
  const { tell } = openReplay(t, `rules: [${rule}]`)
  const at = (clock: string) => writeLine('/', 'curl/8.5.0', '203.0.114.7', clock)
  const lines = Array.from({ length: 9 }, (_, minute) => at(`21/Nov/2026:10:0${minute}:00`))
  for (const log of [lines.toReversed(), [...lines.slice(5), ...lines.slice(0, 5)]])
    t.match(await tell(log), { requests: 9, late: 0, classes: [{ after: { throttle: 0 } }] })
  const long = [...Array(2 * HELD).fill(at('21/Nov/2026:10:00:00')), at('20/Nov/2026:10:00:00')]
  const { out } = await openReplay(t).replay(long)
  t.match(out, /^1 line out of order by more than 100,000 lines: limits may count wrongly\. Sort the log by time\.$/m)
})

t.test('standard input is -, packed or not', async (t) => {
  const { config, given } = openReplay(t)
  const own = [...given, '--config', config]
  t.match(JSON.parse(piping(gzipSync(writeLine()), 'replay', '-', ...own, '--json').stdout), { requests: 1, unread: 0 })
  const refused = 'standard input: none of 1 line can be evaluated'
  t.match(piping('hello', 'replay', '-', ...own), { status: 1, stderr: refused })
})
