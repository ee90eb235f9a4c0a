import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { run, workspace } from './command.ts'

/** Chrome's fields, in its own spelling. */
const CHROME: Readonly<Record<string, string>> = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36',
  Accept: 'text/html',
  'Accept-Language': 'en',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
}

const lower = Object.fromEntries(Object.entries(CHROME).map(([name, value]) => [name.toLowerCase(), value]))

t.test('names over HTTP/2 have no spelling to judge, and over HTTP/1 they have', async (t) => {
  const { folder, config } = workspace(t)
  const explain = async (value: unknown, ...more: readonly string[]) => {
    const file = join(folder, 'request.json')
    writeFileSync(file, JSON.stringify(value))
    const { code, out, err } = await run('explain', file, '--config', config, ...more)
    t.equal(code, 0, err)
    return out
  }
  const har = (httpVersion: string | undefined, headers: Readonly<Record<string, string>>, pseudo = '') => {
    const list = Object.entries(headers).map(([name, value]) => ({ name, value }))
    const all = pseudo === '' ? list : [{ name: pseudo, value: 'a' }, ...list]
    const request = { method: 'GET', url: 'https://a.example/', httpVersion, headers: all }
    return explain({ log: { entries: [{ request }] } }, '--ip', '203.0.114.7')
  }
  const said = /The header names are not written, or not ordered, as this browser does/
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
  const { folder, config } = workspace(t)
  const file = join(folder, 'request.json')
  for (const [name, meant] of [
    ['useragent', 'userAgent'],
    ['user_agnt', 'user_agent'],
    ['Headers', 'headers'],
  ] as const) {
    writeFileSync(file, JSON.stringify({ ip: '203.0.114.7', [name]: 'x' }))
    t.match(await run('explain', file, '--config', config), {
      code: 1,
      err: `${file}: ${name}: is not known; did you mean "${meant}"?`,
    })
  }
})

t.test('a pass is said, or that there is none, and how a rule asks', async (t) => {
  const policy =
    'policy: { preset: observe, rules: [{ id: ask, match: {}, action: challenge, challenge: { level: 2, pass: 6h } }] }'
  const { folder, config } = workspace(t, [policy])
  const explain = async (pass?: unknown) => {
    const file = join(folder, 'request.json')
    writeFileSync(file, JSON.stringify({ ip: '203.0.114.7', headers: CHROME, ...(pass !== undefined && { pass }) }))
    return run('explain', file, '--config', config)
  }
  const asked = (await explain()).out
  t.match(asked, /^challenge\n/)
  t.match(asked, /^asks +level 2, for a pass of 6h$/m)
  t.match(asked, /^pass +none$/m)
  const held = (await explain({ level: 2, age: 300 })).out
  t.match(held, /^allow\n/)
  t.match(held, /^pass +level 2, 5 minutes old$/m)
  t.match(await explain({ level: 9 }), { code: 1, err: /pass: must be none, or \{ level: 1, 2 or 3, age: seconds \}/ })
})
