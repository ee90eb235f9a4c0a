import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ConfigError, type ConfigInput, examineNamed, faultText, readConfigFrom } from '../../src/open/index.ts'

function faultsOf(flags: unknown, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    readConfigFrom({ flags: flags as ConfigInput, env })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map((fault) => faultText(fault).replace(/^[^:]+: /, ''))
  }
}

t.test('a value of none of several kinds is answered with what it may be', async (t) => {
  t.strictSame(faultsOf({ proxyProtocol: 'v3' }), ['proxyProtocol: "v3" is unknown: expected false, v1, v2'])
  t.match(faultsOf({ forwardAuth: 'haproxy' }), [/^forwardAuth: "haproxy" is unknown: expected false, nginx, /])
  t.strictSame(faultsOf({}, { SALLYPORT_PROXY_PROTOCOL: 'V2' }), ['proxyProtocol: "V2" is unknown; did you mean "v2"?'])
  t.strictSame(faultsOf({ refusal: { title: { english: 'x' } } }), [
    'refusal.title.english: must be a language, as en or pt-BR',
  ])
  t.strictSame(faultsOf({ refusal: { title: 3 } }), ['refusal.title: must be a text or a map'])
  t.strictSame(faultsOf({ provenance: { retentionDays: 'ever' } }), [
    'provenance.retentionDays: must be false or a number',
  ])
  t.strictSame(faultsOf({ timeouts: { drain: true } }), faultsOf({ timeouts: { drain: 'x' } }), 'one that says itself')
})

t.test('settings with which nothing could work are refused, with the cure', async (t) => {
  const cure = 'name the address of the server in front in trustProxy'
  t.strictSame(faultsOf({ proxyProtocol: 'v2', forwardAuth: 'nginx' }), [
    `proxyProtocol: is read from trusted peers alone, and every other is cut: ${cure}`,
    `forwardAuth: answers trusted servers alone, and every other with 403: ${cure}`,
  ])
  t.strictSame(faultsOf({ proxyProtocol: 'v2', forwardAuth: 'nginx', trustProxy: ['loopback'] }), [])
  t.match(faultsOf({ redis: 'redis://127.0.0.1:1/abc' }), [/^redis: must end with the port, or with the number of a/])
  for (const redis of ['redis://a', 'redis://a:1/', 'rediss://:x@a:1/15']) t.strictSame(faultsOf({ redis }), [])
  const secret = 'x'.repeat(32)
  const key = { id: 'k1', secret }
  t.strictSame(faultsOf({ handoff: { keys: [key, key] } }), ['handoff.keys.1.id: "k1" is the id of another key too'])
  const adminToken = 'abcdefghijklmnop'
  const { warnings } = readConfigFrom({ flags: { console: { adminToken, readToken: adminToken } } })
  t.match(warnings, [{ key: 'console.readToken', message: /^is adminToken too: its holders may do/ }])
})

t.test('paths of routes and of their checks are paths alone', async (t) => {
  const upstreams = ['http://127.0.0.1:1']
  for (const path of ['/b?c', '/b#c'])
    t.match(faultsOf({ routes: [{ path, upstreams }] }), [/^routes\.0\.path: must be a path/], path)
  for (const path of ['health', '/a b', '/ü', '/a\r\nb'])
    t.match(faultsOf({ routes: [{ upstreams, health: { path } }] }), [/^routes\.0\.health\.path: must be a path/], path)
})

t.test('a key that is misspelt in a value of several kinds is named', async (t) => {
  const rules = [{ id: 'a', match: {}, action: 'throttle', concurrent: { key: 'client', maxx: 3 } }]
  const said = faultsOf({ policy: { preset: 'observe', rules } })
  t.match(said.join('\n'), /unknown key "policy\.rules\.0\.concurrent\.maxx"; did you mean "max"\?/)
})

t.test('a list that is no file is a fault before it is read, and a variable has no hyphen', async (t) => {
  const file = t.testdir()
  t.strictSame(faultsOf({ lists: { mine: { file } } }), [`lists.mine.file: ${file} is a folder`])
  const env = { SALLYPORT_ROBOTS_SIGNALS_AI_INPUT: 'no' }
  t.match(readConfigFrom({ flags: {}, env }).config.robots.signals, { 'ai-input': 'no' })
})

t.test('origins of pages are read as browsers write them, and a wildcard is refused once', async (t) => {
  const cors = ['https://App.example', 'https://b.example:443', 'http://c.example:8080']
  t.strictSame(readConfigFrom({ flags: { api: { cors } } }).config.api.cors, [
    'https://app.example',
    'https://b.example',
    'http://c.example:8080',
  ])
  t.strictSame(faultsOf({ api: { cors: ['https://*.app.example', 'app.example'] } }), [
    'api.cors.0: must be one origin: browsers send no *, so this one would never match',
    'api.cors.1: must be an origin, as https://app.example',
  ])
})

t.test('files that a configuration names are read as text, and sources are files that are not empty', async (t) => {
  const folder = t.testdir()
  const write = (name: string, bytes: string | Buffer): string => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }
  const found = async (flags: ConfigInput) => {
    const { errors, warnings } = await examineNamed(readConfigFrom({ flags: { dataDir: join(folder, 'd'), ...flags } }))
    const texts = [...errors, ...warnings].map(({ key, message }) => `${key}: ${message.replaceAll(`${folder}/`, '')}`)
    return texts.filter((text) => !/^(listen|admin)/.test(text))
  }
  const wide = write('wide.html', Buffer.from('\ufeff<p>{{title}}', 'utf16le'))
  t.strictSame(await found({ refusal: { template: wide } }), [
    'refusal.template: wide.html is written in UTF-16: save it as UTF-8',
  ])
  const slip = write('slip.html', '<p>{{titel}} {{text}}')
  t.strictSame(await found({ refusal: { template: slip } }), [
    'refusal.template: slip.html has {{titel}}, which stays as it is; did you mean "title"?',
  ])
  write('empty.txt', '')
  for (const [path, said] of [
    ['empty.txt', 'is empty'],
    ['/', 'is a folder'],
    ['/dev/zero', 'is not a regular file'],
    ['/proc/version', 'is among the files of the kernel'],
  ] as const) {
    const url = pathToFileURL(resolve(folder, path))
    // Machines that are not Linux have not all of them.
    if (!existsSync(url)) continue
    const sources = { 'tor-bulk-exit': { url: url.href } }
    t.strictSame(await found({ data: { sources } }), [`data.sources.tor-bulk-exit.url: ${path} ${said}`])
  }
  const pem = write('key.pem', '-----BEGIN PRIVATE KEY-----\n')
  t.match(await found({ store: `sqlite:${pem}` }), ['store: key.pem is no database of SQLite, or a damaged one'])
})
