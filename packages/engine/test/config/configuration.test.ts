import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseConfig } from '../../src/config/parse.ts'
import { readConfig } from '../../src/config/read.ts'
import { Limits, parseLimits, parseTimeouts, Timeouts } from '../../src/settings/limits.ts'

function fileWith(folder: string, text: string): string {
  const file = join(folder, 'sallyport.yaml')
  writeFileSync(file, text)
  return file
}

t.test('nothing written is a whole configuration that trusts nobody', async (t) => {
  t.same(parseConfig({}), {
    listen: '127.0.0.1:8080',
    demo: false,
    mode: 'enforce',
    testing: false,
    trustProxy: [],
    clientHeader: 'x-forwarded-for',
    api: { enabled: true, base: '', plans: {} },
    dataDir: './.sallyport',
    data: { refresh: true, readOnly: false, city: true, requireFresh: false, sources: {} },
    net: { outbound: true, allowPrivate: [] },
    dns: { servers: [], timeoutMs: 500, reverseNames: false },
    whois: { servers: {} },
    policy: { preset: 'low-friction', rules: [] },
    lists: {},
    notify: [],
    challenge: { path: '/.sallyport', partitioned: false },
    provenance: { account: 'site', retentionDays: 365 },
    ledger: { timestamps: [], witnesses: [] },
    crawls: false,
    payment: { timeoutMs: 5000 },
    adminOpen: [],
    console: { enabled: true },
    methods: [],
    proxyProtocol: false,
    forwardAuth: false,
    handoff: { keys: [] },
    robots: { serve: false, sitemaps: [] },
    decoys: { paths: [] },
    counting: { place: 'auto' },
    limits: Limits.parse({}),
    timeouts: Timeouts.parse({}),
    routes: [],
    refusal: {},
    log: { requests: 'decided', addresses: 'full', sample: 1, format: 'plain' },
    behaviour: true,
    tally: 30 * 86_400_000,
    watch: false,
  })
  t.same(readConfig({}), parseConfig({}))
})

t.test('flags win over the environment, and the environment over the file', async (t) => {
  const file = fileWith(
    t.testdir(),
    'listen: 127.0.0.1:1\nmode: monitor\napi:\n  base: /detect\ntrustProxy: [private]\n',
  )
  t.match(readConfig({ file }), { listen: '127.0.0.1:1', mode: 'monitor', api: { base: '/detect', enabled: true } })
  const env = {
    SALLYPORT_LISTEN: '127.0.0.1:2',
    SALLYPORT_API_ENABLED: 'false',
    SALLYPORT_TRUST_PROXY: 'loopback, 10.0.0.0/8',
  }
  t.match(readConfig({ file, env }), {
    listen: '127.0.0.1:2',
    api: { base: '/detect', enabled: false },
    trustProxy: ['loopback', '10.0.0.0/8'],
  })
  t.match(readConfig({ file, env, flags: { listen: '127.0.0.1:3' } }), { listen: '127.0.0.1:3', mode: 'monitor' })
})

t.test('variables that other programs set are left alone, and empty ones say nothing', async (t) => {
  const env = { SALLYPORT_SERVICE_HOST: '10.0.0.1', SALLYPORT_PORT: 'tcp://10.0.0.1:80', SALLYPORT_MODE: '' }
  t.same(readConfig({ env }), parseConfig({}))
})

t.test('a configuration that cannot be meant is refused by the name of its key', async (t) => {
  const rows: readonly (readonly [input: unknown, message: RegExp])[] = [
    [{ listn: '127.0.0.1:1' }, /unknown key "listn"/],
    [{ api: { bass: '/x' } }, /unknown key "api\.bass"/],
    [
      { policy: { rules: [{ id: 'a', match: { klass: ['tor'] }, action: 'block' }] } },
      /unknown key "policy\.rules\.0\.match\.klass"/,
    ],
    [{ listen: '8080' }, /listen: must be host:port/],
    [{ mode: 'observe' }, /mode:/],
    [{ upstream: 'localhost:3000' }, /upstream:/],
    [{ upstream: 'ftp://localhost' }, /upstream:/],
    [{ upstream: 'http://localhost:3000/app' }, /upstream: must be an origin/],
    [{ api: { base: 'detect/' } }, /api\.base:/],
    [{ store: 'mysql://localhost/x' }, /store: must be sqlite/],
    [{ redis: 'localhost:6379' }, /redis: must be redis:/],
    [{ data: { refresh: 'daily' } }, /data\.refresh:/],
    [{ dns: { timeoutMs: 0 } }, /dns\.timeoutMs:/],
    [{ provenance: { account: 'a b' } }, /provenance\.account:/],
    [{ provenance: { retentionDays: 0 } }, /provenance\.retentionDays:/],
    [{ provenance: { key: 'x' } }, /unknown key "provenance\.key"/],
    [{ limits: { inflight: 1 } }, /unknown key "limits\.inflight"/],
    [{ timeouts: { queue: '5 s' } }, /timeouts\.queue: must be a time from 0ms to 10m/],
    [{ timeouts: { header: '1h' } }, /timeouts\.header: must be a time/],
    [{ routes: [{ path: 'events' }] }, /routes\.0\.path:/],
    [{ tls: { cert: 'a', key: 'b' } }, /unknown key "tls\.cert"/],
    [{ proxyProtocol: 'v3' }, /proxyProtocol/],
    ['text', /configuration:/],
    [[], /configuration:/],
  ]
  for (const [input, message] of rows)
    t.throws(() => parseConfig(input), { code: 'invalid_config', message }, JSON.stringify(input))
})

t.test('times are written with their unit, and a parsed configuration can be parsed again', async (t) => {
  const config = parseConfig({
    timeouts: { queue: '1.5s', header: '250ms', tunnelIdle: '2h', drain: 3_000, keepAlive: '1m' },
  })
  t.match(config.timeouts, { queue: 1_500, header: 250, tunnelIdle: 7_200_000, drain: 3_000, keepAlive: 60_000 })
  t.same(parseConfig(config), config)
  t.throws(() => parseTimeouts({ queue: 'soon' }), {
    code: 'invalid_config',
    message: /timeouts\.queue: must be a time/,
  })
  t.throws(() => parseLimits({ inFlight: 0 }), { code: 'invalid_config', message: /limits\.inFlight:/ })
})

t.test('two lines put many nodes on one store', async (t) => {
  const file = fileWith(t.testdir(), 'store: postgres://app:secret@db.example:5432/app\nredis: redis://cache.example\n')
  t.match(readConfig({ file }), { store: /^postgres:/, redis: 'redis://cache.example' })
  t.match(readConfig({ env: { SALLYPORT_STORE: 'postgresql://db/app', SALLYPORT_REDIS: 'rediss://cache' } }), {
    store: 'postgresql://db/app',
    redis: 'rediss://cache',
  })
  try {
    parseConfig({ store: 'postgres://app:secret word@db/app' })
    t.fail('not refused')
  } catch (error) {
    t.notMatch(String(error), /secret/, 'a password is never repeated')
  }
})

t.test('a file that cannot be read says which and where', async (t) => {
  t.throws(() => readConfig({ file: '/nowhere/sallyport.yaml' }), {
    code: 'invalid_config',
    message: /nowhere.* does not exist/,
  })
  const broken = fileWith(t.testdir(), 'listen: [1\nmode: monitor')
  t.throws(() => readConfig({ file: broken }), { code: 'invalid_config', message: /sallyport\.yaml.*line/s })
  t.throws(() => readConfig({ file: fileWith(t.testdir(), '- a\n- b\n') }), {
    code: 'invalid_config',
    message: /map of keys/,
  })
  t.throws(() => readConfig({ env: { SALLYPORT_DNS_TIMEOUT_MS: 'soon' } }), {
    code: 'invalid_config',
    message: /SALLYPORT_DNS_TIMEOUT_MS/,
  })
  t.match(readConfig({ file: fileWith(t.testdir(), '') }), { mode: 'enforce' })
})
