import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ConfigError, type ConfigInput, examineNamed, faultText, readConfigFrom } from '../../src/open/index.ts'

function listFaults(flags: unknown, env: Readonly<Record<string, string>> = {}): readonly string[] {
  try {
    readConfigFrom({ flags: flags as ConfigInput, env })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.faults.map((fault) => faultText(fault).replace(/^[^:]+: /, ''))
  }
}

t.test('a value of none of several kinds is answered with what it may be', async (t) => {
  t.strictSame(listFaults({ proxyProtocol: 'v3' }), ['proxyProtocol: "v3" is unknown: expected false, v1, v2'])
  t.match(listFaults({ forwardAuth: 'haproxy' }), [/^forwardAuth: "haproxy" is unknown: expected false, nginx, /])
  t.strictSame(listFaults({}, { SALLYPORT_PROXY_PROTOCOL: 'V2' }), [
    'proxyProtocol: "V2" is unknown; did you mean "v2"?',
  ])
  t.strictSame(listFaults({ refusal: { title: { english: 'x' } } }), [
    'refusal.title.english: is not a language like en or pt-BR',
  ])
  t.strictSame(listFaults({ refusal: { title: 3 } }), ['refusal.title: must be a text or a map'])
  t.strictSame(listFaults({ provenance: { retentionDays: 'ever' } }), [
    'provenance.retentionDays: must be false or a number',
  ])
  t.strictSame(
    listFaults({ timeouts: { drain: true } }),
    listFaults({ timeouts: { drain: 'x' } }),
    'one that says itself',
  )
})

t.test('settings with which nothing could work are refused, with the cure', async (t) => {
  const cure = 'add the address of the server in front to trustProxy'
  t.strictSame(listFaults({ proxyProtocol: 'v2', forwardAuth: 'nginx' }), [
    `proxyProtocol: accepts only trusted proxies, but trustProxy is empty: ${cure}`,
    `forwardAuth: accepts only trusted proxies, but trustProxy is empty: ${cure}`,
  ])
  t.strictSame(listFaults({ proxyProtocol: 'v2', forwardAuth: 'nginx', trustProxy: ['loopback'] }), [])
  t.match(listFaults({ redis: 'redis://127.0.0.1:1/abc' }), [/^redis: must end with the port or a database number/])
  for (const redis of ['redis://a', 'redis://a:1/', 'rediss://:x@a:1/15']) t.strictSame(listFaults({ redis }), [])
  const secret = 'x'.repeat(32)
  const key = { id: 'k1', secret }
  t.strictSame(listFaults({ handoff: { keys: [key, key] } }), [
    'handoff.keys.1.id: "k1" is already the id of another key. Use a unique id',
  ])
  const adminToken = 'abcdefghijklmnop'
  const { warnings } = readConfigFrom({ flags: { console: { adminToken, readToken: adminToken } } })
  t.match(warnings, [{ key: 'console.readToken', message: /^is identical to adminToken, so both tokens grant/ }])
})

t.test('paths of routes and of their checks are paths alone', async (t) => {
  const upstreams = ['http://127.0.0.1:1']
  for (const path of ['/b?c', '/b#c'])
    t.match(listFaults({ routes: [{ path, upstreams }] }), [/^routes\.0\.path: must be a path/], path)
  for (const path of ['health', '/a b', '/ü', '/a\r\nb'])
    t.match(
      listFaults({ routes: [{ upstreams, health: { path } }] }),
      [/^routes\.0\.health\.path: must be a path/],
      path,
    )
})

t.test('a key that is misspelt in a value of several kinds is named', async (t) => {
  const rules = [{ id: 'a', match: {}, action: 'throttle', concurrent: { key: 'client', maxx: 3 } }]
  const said = listFaults({ policy: { preset: 'observe', rules } })
  t.match(said.join('\n'), /unknown key "policy\.rules\.0\.concurrent\.maxx"; did you mean "max"\?/)
})

t.test('a list that is no file is a fault before it is read', async (t) => {
  const file = t.testdir()
  t.strictSame(listFaults({ lists: { mine: { file } } }), [`lists.mine.file: ${file} is a folder`])
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
    'refusal.template: wide.html is encoded in UTF-16. Save it as UTF-8',
  ])
  const slip = write('slip.html', '<p>{{titel}} {{text}}')
  t.strictSame(await found({ refusal: { template: slip } }), [
    'refusal.template: slip.html has the unknown placeholder {{titel}}; did you mean "title"?',
  ])
  write('empty.txt', '')
  for (const [path, said] of [
    ['empty.txt', 'is empty'],
    ['/', 'is a folder'],
    ['/dev/zero', 'is not a regular file'],
    ['/proc/version', 'is in a file system of the kernel'],
  ] as const) {
    const url = pathToFileURL(resolve(folder, path))
    // Machines that are not Linux have not all of them.
    if (!existsSync(url)) continue
    const sources = { 'tor-bulk-exit': { url: url.href } }
    t.strictSame(await found({ data: { sources } }), [`data.sources.tor-bulk-exit.url: ${path} ${said}`])
  }
  const pem = write('key.pem', '-----BEGIN PRIVATE KEY-----\n')
  t.match(await found({ store: `sqlite:${pem}` }), ['store: key.pem is not a SQLite database, or is corrupt'])
})
