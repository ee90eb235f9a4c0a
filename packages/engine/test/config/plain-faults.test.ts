import t from 'tap'
import { type ConfigInput, readConfigFrom } from '../../src/open/index.ts'
import { listFaults } from './written.ts'

/** Lists faults of flags without the flag that has them. */
const listFlagFaults = (flags: unknown) =>
  listFaults({ flags: flags as ConfigInput, env: {} }).map((fault) => fault.replace(/^[^:]+: /, ''))

t.test('a value of none of several kinds is answered with what it may be', async (t) => {
  const rows: readonly (readonly [flags: object, fault: string])[] = [
    [{ proxyProtocol: 'v3' }, 'proxyProtocol: "v3" is unknown: expected false, v1, v2'],
    [{ proxyProtocol: 'V2' }, 'proxyProtocol: "V2" is unknown; did you mean "v2"?'],
    [{ refusal: { title: { english: 'x' } } }, 'refusal.title.english: is not a language like en or pt-BR'],
    [{ refusal: { title: 3 } }, 'refusal.title: must be a text or a map'],
    [{ provenance: { retentionDays: 'ever' } }, 'provenance.retentionDays: must be false or a number'],
    [{ lists: { mine: { file: '/' } } }, 'lists.mine.file: / is a folder'],
    [{ lists: { mine: { file: '/dev/zero' } } }, 'lists.mine.file: /dev/zero is not a regular file'],
    [
      { lists: { mine: { file: '/proc/version' } } },
      'lists.mine.file: /proc/version is in a file system of the kernel',
    ],
  ]
  for (const [flags, fault] of rows) t.strictSame(listFlagFaults(flags), [fault])
  t.match(listFlagFaults({ forwardAuth: 'haproxy' }), [/^forwardAuth: "haproxy" is unknown: expected false, nginx, /])
  t.strictSame(listFlagFaults({ timeouts: { drain: true } }), listFlagFaults({ timeouts: { drain: 'x' } }))
})

t.test('settings with which nothing could work are refused, with the cure', async (t) => {
  const cure = 'add the address of the server in front to trustProxy'
  t.strictSame(listFlagFaults({ proxyProtocol: 'v2', forwardAuth: 'nginx' }), [
    `proxyProtocol: accepts only trusted proxies, but trustProxy is empty: ${cure}`,
    `forwardAuth: accepts only trusted proxies, but trustProxy is empty: ${cure}`,
  ])
  t.strictSame(listFlagFaults({ proxyProtocol: 'v2', forwardAuth: 'nginx', trustProxy: ['loopback'] }), [])
  t.match(listFlagFaults({ redis: 'redis://127.0.0.1:1/abc' }), [/^redis: must end with the port or a database number/])
  for (const redis of ['redis://a', 'redis://a:1/', 'rediss://:x@a:1/15']) t.strictSame(listFlagFaults({ redis }), [])
  const secret = 'x'.repeat(32)
  const key = { id: 'k1', secret }
  t.strictSame(listFlagFaults({ handoff: { keys: [key, key] } }), [
    'handoff.keys.1.id: "k1" is already the id of another key. Use a unique id',
  ])
  const adminToken = 'abcdefghijklmnop'
  const { warnings } = readConfigFrom({ flags: { console: { adminToken, readToken: adminToken } } })
  t.match(warnings, [{ key: 'console.readToken', message: /^is identical to adminToken, so both tokens grant/ }])
})

t.test('paths of routes and of their checks are paths alone', async (t) => {
  const upstreams = ['http://127.0.0.1:1']
  const listRouteFaults = (route: object) => listFlagFaults({ routes: [{ upstreams, ...route }] })
  for (const path of ['/b?c', '/b#c']) t.match(listRouteFaults({ path }), [/^routes\.0\.path: must be a path/], path)
  for (const path of ['health', '/a b', '/ü', '/a\r\nb'])
    t.match(listRouteFaults({ health: { path } }), [/^routes\.0\.health\.path: must be a path/], path)
})

t.test('a key that is misspelt in a value of several kinds is named', async (t) => {
  const rules = [{ id: 'a', match: {}, action: 'throttle', concurrent: { key: 'client', maxx: 3 } }]
  const said = listFlagFaults({ policy: { preset: 'observe', rules } })
  t.match(said.join('\n'), /unknown key "policy\.rules\.0\.concurrent\.maxx"; did you mean "max"\?/)
})
