import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { faultText, listSettings, readConfigFrom } from '../../src/open/index.ts'
import { fileIn, listFaults } from './written.ts'

t.test('a fault names file, line, key and rule, and what was expected', async (t) => {
  const file = fileIn(
    t,
    `listen: 127.0.0.1:1
mode: monitr
limits: { inFlite: 2 }
policy:
  preset: low-fricton
  rules:
    - id: home
      match:
        networkClass:
          - tor
          - hostin
    - { id: all, match: {}, action: alow, onerror: flag }
`,
  )
  t.strictSame(listFaults({ file }), [
    'sallyport.yaml:2: mode: "monitr" is unknown; did you mean "monitor"?',
    'sallyport.yaml:3: unknown key "limits.inFlite"; did you mean "inFlight"?',
    'sallyport.yaml:5: policy.preset: "low-fricton" is unknown; did you mean "low-friction"?',
    'sallyport.yaml:7: policy.rules.0.action: rule "home": is missing',
    'sallyport.yaml:11: policy.rules.0.match.networkClass.1: rule "home": "hostin" is unknown; did you mean "hosting"?',
    'sallyport.yaml:12: policy.rules.1.action: rule "all": "alow" is unknown; did you mean "allow"?',
    'sallyport.yaml:12: rule "all": unknown key "policy.rules.1.onerror"; did you mean "onError"?',
  ])
})

t.test('and keys that need each other, or are too much together', async (t) => {
  for (const [text, fault] of [
    [
      'listen: 127.0.0.1:1\nhttp: 127.0.0.1:2\n',
      '2: http: is the plain HTTP listener beside TLS. Without tls, set listen instead',
    ],
    [
      'tls:\n  redirect: true\n  certificates: [{ cert: a, key: b }]\n',
      '2: tls.redirect: needs http, the plain listener to redirect. Add http: 0.0.0.0:80',
    ],
    [
      'tls: { acme: { domains: [a.example], email: a@a.example } }\n',
      '1: tls.acme: needs http, because the CA fetches its challenge on port 80',
    ],
    ['tls: { http2: false }\n', '1: tls: has neither certificates nor acme. Add one of them'],
    [
      'trustProxy: [0.0.0.0/2, 64.0.0.0/2]\n',
      '1: trustProxy: "0.0.0.0/2", "64.0.0.0/2" are together most of IPv4: any client could then forge its address.',
    ],
  ] as const) {
    t.strictSame(listFaults({ file: fileIn(t, text) }), [`sallyport.yaml:${fault}`])
  }
})

t.test('and so do the words that no schema knows', async (t) => {
  const file = fileIn(
    t,
    `trustProxy: [loopback, cloudflair]
data: { sources: { x4bnet-vpn-ipv: { enabled: true } } }
net: { allowPrivate: [10.0.0.0] }
policy:
  allowlist: [10.0.0.0/8, nowhere]
  rules:
    - id: home
      match: { country: [AT, UK, de, Germany] }
      action: block
    - id: paths
      match: { path: [admin, /a/**/b, /%61dmin], vendor: [OpenAl], crawler: [google-bot] }
      action: block
    - { id: home, match: { time: { from: "25:00" } }, action: flag }
`,
  )
  t.strictSame(listFaults({ file }), [
    'sallyport.yaml:1: trustProxy.1: "cloudflair" is not an address, a CIDR range or a preset; did you mean "cloudflare"?',
    'sallyport.yaml:2: data.sources.x4bnet-vpn-ipv: there is no such source; did you mean "x4bnet-vpn-ipv4"?',
    'sallyport.yaml:3: net.allowPrivate.0: "10.0.0.0" is not a CIDR',
    'sallyport.yaml:5: policy.allowlist.1: "nowhere" is not an address or a CIDR range',
    'sallyport.yaml:8: policy.rules.0.match.country.1: rule "home": "UK" is unknown; did you mean "GB"?',
    'sallyport.yaml:8: policy.rules.0.match.country.2: rule "home": "de" is unknown; did you mean "DE"?',
    'sallyport.yaml:8: policy.rules.0.match.country.3: rule "home": "Germany" is unknown: expected a country code (ISO 3166-1)',
    'sallyport.yaml:11: policy.rules.1.match.path.0: rule "paths": "admin" is unknown: a path begins with a slash; did you mean "/admin"?',
    'sallyport.yaml:11: policy.rules.1.match.path.1: rule "paths": "/a/**/b" is unknown: ** must be the last segment',
    'sallyport.yaml:11: policy.rules.1.match.path.2: rule "paths": "/%61dmin" is unknown: write the path as "/admin"',
    'sallyport.yaml:11: policy.rules.1.match.vendor.0: rule "paths": "OpenAl" is unknown; did you mean "OpenAI"?',
    'sallyport.yaml:11: policy.rules.1.match.crawler.0: rule "paths": "google-bot" is unknown; did you mean "googlebot"?',
    'sallyport.yaml:13: policy.rules.2.id: rule "home": the id "home" is used twice',
    'sallyport.yaml:13: policy.rules.2.match.time.from: rule "home": "25:00" is unknown: expected HH:MM',
  ])
})

t.test('an alias, a variable and a flag are where they are written', async (t) => {
  const file = fileIn(t, 'policy:\n  rules:\n    - &r\n      id: a\n      match: {}\n      action: alow\n    - *r\n')
  t.strictSame(listFaults({ file }), [
    'sallyport.yaml:6: policy.rules.0.action: rule "a": "alow" is unknown; did you mean "allow"?',
    'sallyport.yaml:6: policy.rules.1.action: rule "a": "alow" is unknown; did you mean "allow"?',
  ])
  const env = { SALLYPORT_MODE: 'off', SALLYPORT_DNS_TIMEOUT_MS: '1' }
  t.strictSame(listFaults({ env, flags: { dataDir: '' } }), [
    'SALLYPORT_MODE: mode: "off" is unknown: expected enforce, monitor',
    '--data-dir: dataDir: expected string to have >=1 characters',
    'SALLYPORT_DNS_TIMEOUT_MS: dns.timeoutMs: expected number to be >=10',
  ])
  t.match(listFaults({ env: { SALLYPORT_TRUST_PROXY: 'loopback, everyone' } }), [
    /^SALLYPORT_TRUST_PROXY: trustProxy\.1: "everyone" is not an address, a CIDR range or a preset: expected /,
  ])
})

t.test('a misspelt variable is refused, another unknown one a warning, and those of others left alone', async (t) => {
  t.strictSame(listFaults({ env: { SALLYPORT_DATADIR: '/x', SALLYPORT_API_ENABLED: 'yes' } }), [
    'configuration: the variable SALLYPORT_DATADIR is unknown; did you mean SALLYPORT_DATA_DIR?',
    'SALLYPORT_API_ENABLED: "yes" is not a number, true or false',
  ])
  const env = {
    SALLYPORT_MODE: '',
    SALLYPORT_COLOUR: 'red',
    SALLYPORT_PORT: 'tcp://10.0.0.1:80',
    SALLYPORT_SERVICE_HOST: '10.0.0.1',
    SALLYPORT_ADMIN_SERVICE_PORT: '9090',
    SALLYPORT_MAXMIND_KEY: 'a:b',
  }
  const { config, warnings } = readConfigFrom({ env })
  t.strictSame(warnings.map(faultText), ['configuration: the variable SALLYPORT_COLOUR is unknown and ignored'])
  t.equal(config.mode, 'enforce', 'an empty variable says nothing')
})

t.test('secrets are read from files and from the environment, and are shown to nobody', async (t) => {
  const LONG = 'sesame '.repeat(9)
  const secret = fileIn(t, `postgres://app:pa\${X}ss@db/app\n`, 'store')
  const text = `store: file:${secret}\nredis: "redis://:\${REDIS_PASSWORD}@cache"\ndata: { sources: { aws: { key: "\${KEY}" } } }\nhandoff: { keys: [{ id: a, secret: "\${LONG}" }] }\n`
  const file = join(t.testdirName, 'sallyport.yaml')
  writeFileSync(file, text)
  const read = readConfigFrom({ file, env: { REDIS_PASSWORD: 'sesame', KEY: 'a:b', LONG } })
  t.match(read.config, {
    store: `postgres://app:pa\${X}ss@db/app`,
    redis: 'redis://:sesame@cache',
    data: { sources: { aws: { key: 'a:b' } } },
    handoff: { keys: [{ secret: LONG }] },
  })
  const hidden = listSettings(read).filter(({ value }) => value === '***')
  t.strictSame(
    hidden.map(({ key }) => key),
    ['store', 'redis', 'data.sources.aws.key'],
  )
  t.notMatch(JSON.stringify(listSettings(read)), 'sesame')
  t.match(readConfigFrom({ env: { SALLYPORT_STORE: `file:${secret}` } }).config.store, /^postgres:/)

  writeFileSync(file, text.replace(secret, '/nowhere/x'))
  t.strictSame(listFaults({ file, env: { KEY: 'a:b' } }), [
    'sallyport.yaml:1: store: /nowhere/x does not exist',
    'sallyport.yaml:2: redis: the variable REDIS_PASSWORD is not set',
    'sallyport.yaml:4: handoff.keys.0.secret: the variable LONG is not set',
  ])
})

t.test('a rule that matches everything and allows is warned of at its line', async (t) => {
  const rules = '[{ id: empty, match: {}, action: allow }, { id: trial, match: {}, action: allow, monitor: true }]'
  const { warnings } = readConfigFrom({ file: fileIn(t, `policy:\n  rules: ${rules}\n`) })
  const first = { rule: 'empty', key: 'policy.rules.0', place: { line: 2 }, message: /allows every request/ }
  t.match(warnings, [first])
  t.equal(warnings.length, 1)
})

t.test('each value that is in force says where it comes from', async (t) => {
  const rule = { id: 'a', match: {}, action: 'flag' }
  const file = fileIn(t, `mode: monitor\ntimeouts: { queue: 90s }\npolicy:\n  rules:\n    - ${JSON.stringify(rule)}\n`)
  const settings = listSettings(readConfigFrom({ file, env: { SALLYPORT_MODE: 'enforce' }, flags: { dataDir: '/d' } }))
  const told = new Map(settings.map(({ key, value, place }) => [key, [value, place?.text.replace(/.*\//, '')]]))
  t.strictSame(told.get('mode'), ['enforce', 'SALLYPORT_MODE'])
  t.strictSame(told.get('dataDir'), ['/d', '--data-dir'])
  t.strictSame(told.get('timeouts.queue'), ['90s', 'sallyport.yaml:2'])
  t.strictSame(told.get('timeouts.tunnelIdle'), ['5m', undefined])
  t.strictSame(told.get('policy.rules.0'), [rule, 'sallyport.yaml:5'])
})

t.test('a key that is not text is a fault of the file, and no warning of the process', async (t) => {
  const warnings: unknown[] = []
  const warned = (warning: unknown) => void warnings.push(warning)
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  t.not(listFaults({ file: fileIn(t, '? [listen]\n: 127.0.0.1:1\n') }).length, 0)
  await new Promise(setImmediate)
  t.same(warnings, [])
})

t.test('addresses and URLs that cannot be are found before anything is opened', async (t) => {
  const rule = '{ id: a, match: { country: [UK] }, action: block }'
  const bad: readonly (readonly [line: string, key: string])[] = [
    ['listen: 127.0.0.1:99999', 'listen'],
    ['listen: "[::1]:65536"', 'listen'],
    ['admin: localhost:70000', 'admin'],
    ['redis: redis://127.0.0.1:99999', 'redis'],
    ['redis: redis://:p#ss@127.0.0.1:6379', 'redis'],
    ['redis: redis://:100%zz@127.0.0.1:6379', 'redis'],
    ['store: postgres://u:p@127.0.0.1:99999/x', 'store'],
    ['dns: { servers: [nonsense] }', 'dns.servers.0'],
    ['dns: { servers: ["10.0.0.1:99999"] }', 'dns.servers.0'],
    ['whois: { servers: { de: "whois.example:99999" } }', 'whois.servers.de'],
    ['upstream: http://127.0.0.1:99999', 'upstream'],
    ['listen: 0.0.0.0:8080\nadmin: 127.0.0.1:8080', 'admin'],
    ['listen: "[::]:8080"\nadmin: 127.0.0.1:8080', 'admin'],
    ['listen: 127.0.0.1:8080\nadmin: localhost:8080', 'admin'],
    ['listen: "[::1]:8080"\nadmin: "[0:0::1]:8080"', 'admin'],
    ['tls: { hsts: { maxAge: 300 } }', 'tls.hsts'],
    [`routes: [{ policy: { rules: [${rule}] } }]`, 'routes.0.policy.rules.0'],
  ]
  for (const [text, key] of bad) t.match(listFaults({ file: fileIn(t, `${text}\n`) }), [new RegExp(`: ${key}`)], text)
  for (const text of [
    'listen: 0.0.0.0:80\nadmin: "[::1]:80"',
    'listen: 127.0.0.1:80\nadmin: 127.0.0.2:80',
    'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0',
    'dns: { servers: ["[::1]:53"] }',
    'redis: rediss://user:p%23ss@cache.example:6380/2',
  ]) {
    t.same(listFaults({ file: fileIn(t, `${text}\n`) }), [], text)
  }
})

t.test('lists are known by name, and what cannot be one is said at its place', async (t) => {
  const rule = '{ id: a, match: { address: ["list:bad"] }, action: block }'
  for (const [lists, fault] of [
    ['good: []', /:3: policy\.rules\.0\.match\.address\.0: rule "a": there is no list "bad"\. Use one of good/],
    ['bad: { file: nowhere.txt }', /:2: lists\.bad\.file: nowhere\.txt does not exist/],
    ['bad: [300.1.1.1]', /:2: lists\.bad\.0: "300\.1\.1\.1" is not an address/],
    ['bad: { url: ftp://a.example }', /lists\.bad/],
  ] as const) {
    t.match(listFaults({ file: fileIn(t, `lists:\n  ${lists}\npolicy: { rules: [${rule}] }\n`) }), [fault])
  }
  t.same(listFaults({ file: fileIn(t, `lists: { bad: [192.0.2.1, "*Bot*"] }\npolicy: { rules: [${rule}] }\n`) }), [])
})
