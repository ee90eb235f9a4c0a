import t from 'tap'
import { parseConfig } from '../../src/config/parse.ts'
import { readConfig } from '../../src/config/read.ts'
import { Limits, parseLimits, parseTimeouts, Timeouts } from '../../src/settings/limits.ts'
import { fileIn } from './written.ts'

t.test('nothing written is a whole configuration that trusts nobody', async (t) => {
  const config = parseConfig({})
  const { trustProxy, net, adminOpen, handoff, policy } = config
  t.same([trustProxy, net.allowPrivate, adminOpen, handoff.keys, policy.rules], [[], [], [], [], []])
  t.same([config.limits, config.timeouts], [Limits.parse({}), Timeouts.parse({})])
  t.same(readConfig({}), config)
})

t.test('flags win over the environment, and the environment over the file', async (t) => {
  const text = 'listen: 127.0.0.1:1\nmode: monitor\napi:\n  base: /detect\ntrustProxy: [private]\n'
  const file = fileIn(t, text)
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

t.test('a configuration that cannot be meant is refused by the name of its key', async (t) => {
  const rows: readonly (readonly [input: unknown, message: RegExp])[] = [
    [{ api: { bass: '/x' } }, /unknown key "api\.bass"/],
    [{ listen: '8080' }, /listen: must be host:port/],
    [{ upstream: 'ftp://localhost' }, /upstream:/],
    [{ upstream: 'http://localhost:3000/app' }, /upstream: must be an origin/],
    [{ api: { base: 'detect/' } }, /api\.base:/],
    [{ store: 'mysql://localhost/x' }, /store: must be sqlite/],
    // A password is never repeated.
    [{ store: 'postgres://app:secret word@db/app' }, /^(?!.*secret)/s],
    [{ redis: 'localhost:6379' }, /redis: must be redis:/],
    [{ provenance: { account: 'a b' } }, /provenance\.account:/],
    [{ provenance: { retentionDays: 0 } }, /provenance\.retentionDays:/],
    [{ timeouts: { queue: '5 s' } }, /timeouts\.queue: must be a time from 0ms to 10m/],
    [{ timeouts: { header: '1h' } }, /timeouts\.header: must be a time/],
    [{ routes: [{ path: 'events' }] }, /routes\.0\.path:/],
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
  const code = 'invalid_config'
  t.throws(() => parseTimeouts({ queue: 'soon' }), { code, message: /timeouts\.queue: must be a time/ })
  t.throws(() => parseLimits({ inFlight: 0 }), { code, message: /limits\.inFlight:/ })
})
