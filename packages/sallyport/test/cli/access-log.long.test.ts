import t from 'tap'
import { listReadings } from './read-lines.ts'

/** A line, its format, and what is read of it: `address method target | user agent | moment | status`, or what it lacks. */
type Sample = readonly [format: string, line: string, read: string]

const AT = '2026-11-21T09:00:00.000Z'
const CLF = '[21/Nov/2026:10:00:00 +0100]'
const UNIX = Date.parse(AT) / 1_000
const curl = (target: string, status: number | string = 200) =>
  `203.0.113.9 GET ${target} | curl/8.5.0 | ${AT} | ${status}`
const json = (value: unknown) => JSON.stringify(value)

/** Shows that its log has user agents. */
const AGENT = `203.0.113.9 - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`

const TEXT: readonly Sample[] = [
  ['combined', `203.0.113.9 - - ${CLF} "GET /a?b=c HTTP/1.1" 200 12 "https://a.example/" "curl/8.5.0"`, curl('/a?b=c')],
  ['combined', `203.0.113.9 - a [b] ${CLF} "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0" "198.51.100.1" 0.003`, curl('/')],
  ['combined', `203.0.113.9 shop.example - ${CLF} "GET / HTTP/1.1" 304 0 "-" "curl/8.5.0"`, curl('/', 304)],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" -`, `203.0.113.9 GET /a |  | ${AT} | 200`],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 - - -`, `203.0.113.9 GET /a |  | ${AT} | 200`],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 -`, 'lacks userAgent'],
  ['combined', `2001:db8::9 - - ${CLF} "POST /a HTTP/2.0" 200 0 "-" "-"`, `2001:db8::9 POST /a |  | ${AT} | 200`],
  [
    'combined',
    `203.0.113.9 - - ${CLF} "GET /\\x22\\xe9 HTTP/1.1" 200 0 "-" "a \\"b\\" \\\\"`,
    `203.0.113.9 GET /"é | a "b" \\ | ${AT} | 200`,
  ],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a b HTTP/1.1" 200 0 "-" "curl/8.5.0"`, curl('/a b')],
  ['combined', `203.0.113.9 - - ${CLF} "GET http://a.example/x HTTP/1.1" 200 0 "-" "curl/8.5.0"`, curl('/x')],
  ['combined', `203.0.113.9 - - ${CLF} "\\x16\\x03\\x01" 400 150 "-" "-"`, 'lacks request'],
  ['combined', `203.0.113.9 - - ${CLF} "-" 408 0 "-" "-"`, 'lacks request'],
  ['combined', `203.0.113.9 - - [-] "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks time'],
  ['combined', `203.0.113.9, 10.0.0.1 - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks address'],
  ['combined', `gate.example - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks address'],
  ['combined', `shop.example:443 203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 0 "-" "curl/8.5.0"`, curl('/a')],
  ['combined', `203.0.113.9 - - ${CLF} "GET / HTTP/1.1" 200 12`, 'lacks userAgent'],
  ['none', 'Traceback (most recent call last):', 'lacks request'],
  ['none', `1.2.3.4 ${'"'.repeat(10_000)}`, 'lacks request'],
  ['none', '{', 'lacks request'],
  ['none', '{"__proto__":{"ip":"1.2.3.4"}}', 'lacks request'],
  ['none', '[]', 'lacks request'],
]

const caddy = (change: Readonly<Record<string, unknown>>, request: Readonly<Record<string, unknown>> = {}) =>
  json({
    level: 'info',
    ts: UNIX,
    logger: 'http.log.access.log0',
    request: {
      remote_ip: '10.0.0.1',
      client_ip: '203.0.113.9',
      method: 'GET',
      uri: '/a',
      headers: { 'User-Agent': ['curl/8.5.0'] },
      ...request,
    },
    status: 200,
    ...change,
  })

const cloudFront = (change: Readonly<Record<string, unknown>> = {}) =>
  json({
    date: '2026-11-21',
    time: '09:00:00',
    'c-ip': '203.0.113.9',
    'cs-method': 'GET',
    'cs-uri-stem': '/a',
    'cs-uri-query': '-',
    'sc-status': 200,
    'cs(User-Agent)': 'curl/8.5.0',
    ...change,
  })

const OBJECTS: readonly Sample[] = [
  ['json', cloudFront(), curl('/a')],
  ['json', cloudFront({ 'cs-uri-query': 'b=c', 'sc-status': '304' }), curl('/a?b=c', 304)],
  ['json', cloudFront({ date: undefined, time: undefined, timestamp: String(UNIX) }), curl('/a')],
  ['json', cloudFront({ 'cs(User-Agent)': undefined }), 'lacks userAgent'],
  ['json', cloudFront({ 'cs(User-Agent)': null, 'cs-uri': null }), `203.0.113.9 GET /a |  | ${AT} | 200`],
  ['json', caddy({}), curl('/a')],
  ['json', caddy({ ts: AT }), curl('/a')],
  ['json', caddy({ ts: '2026/11/21 09:00:00' }), curl('/a')],
  ['json', caddy({ ts: 'yesterday' }), 'lacks time'],
  ['json', caddy({}, { client_ip: undefined, remote_ip: undefined, remote_addr: '203.0.113.9:4711' }), curl('/a')],
  ['json', caddy({}, { headers: { Accept: ['*/*'] } }), `203.0.113.9 GET /a |  | ${AT} | 200`],
  ['json', caddy({}, { headers: undefined }), 'lacks userAgent'],
  ['none', json({ level: 'info', ts: UNIX, msg: 'serving initial configuration' }), 'lacks request'],
  [
    'json',
    json({
      time_local: '21/Nov/2026:10:00:00 +0100',
      remote_addr: '203.0.113.9',
      request: 'GET /a HTTP/1.1',
      status: '200',
      http_user_agent: 'curl/8.5.0',
    }),
    curl('/a'),
  ],
  [
    'json',
    json({
      msec: String(UNIX),
      remote_addr: '203.0.113.9',
      request_method: 'GET',
      uri: '/a',
      request_uri: '/a?b',
      request_time: 0.01,
      status: 200,
      http_user_agent: 'curl/8.5.0',
    }),
    curl('/a?b'),
  ],
  [
    'json',
    json({
      time_iso8601: '2026-11-21T10:00:00+01:00',
      remote_addr: '203.0.113.9',
      request: 'GET /a HTTP/1.1',
      http_user_agent: '',
    }),
    `203.0.113.9 GET /a |  | ${AT} | `,
  ],
  [
    'json',
    `{"time_iso8601":"${AT}","remote_addr":"203.0.113.9","request":"GET /\\x22 HTTP/1.1","status":200,"http_user_agent":"curl/8.5.0"}`,
    curl('/"'),
  ],
  [
    'json',
    json({
      time: CLF,
      remoteIP: '203.0.113.9',
      method: 'GET',
      request: '/a',
      query: '?b',
      status: '200',
      userAgent: 'curl/8.5.0',
    }),
    curl('/a'),
  ],
  [
    'json',
    json({ remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', http_user_agent: 'curl/8.5.0' }),
    'lacks time',
  ],
  ['json', json({ remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', time_iso8601: AT }), 'lacks userAgent'],
  ...[{ http_user_agent: null }, { user_agent: null }].map(
    (agent): Sample => [
      'json',
      json({ remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', time_iso8601: AT, ...agent }),
      `203.0.113.9 GET /a |  | ${AT} | `,
    ],
  ),
  [
    'json',
    json({
      remote_addr: '203.0.113.9',
      request: 'GET /a HTTP/1.1',
      time_iso8601: AT,
      status: 200,
      http_user_agent: null,
      user_agent: 'curl/8.5.0',
    }),
    curl('/a'),
  ],
  [
    'json',
    json({ remote_addr: null, request: 'GET /a HTTP/1.1', time_iso8601: AT, http_user_agent: 'a' }),
    'lacks address',
  ],
  [
    'json',
    json({ remote_addr: '-', request: 'GET /a HTTP/1.1', time_iso8601: AT, http_user_agent: 'a' }),
    'lacks address',
  ],
]

t.test('a line of each format is read, and nothing is made up of what it lacks', async (t) => {
  for (const [format, line, read] of [...TEXT, ...OBJECTS])
    t.same(listReadings([line, AGENT]).slice(0, -1), [[format, read]], line.slice(0, 90))
})

t.test('lines of other programs with the names of the decision log are not taken for its own', async (t) => {
  const line = { time: AT, requestId: '0a1b', method: 'GET', path: '/a', http_user_agent: 'curl/8.5.0' }
  for (const status of ['200', 200]) {
    t.same(listReadings([json({ ...line, remote_addr: '203.0.113.9', status })]), [['json', curl('/a')]])
  }
})

t.test('lines about something else than the end of a request are none', async (t) => {
  const lines = [
    caddy({ logger: 'http.log.error', status: 502 }),
    json({ time: AT, audit: 'keys create', who: 'ada' }),
    '#Software: Microsoft Internet Information Services 10.0',
  ]
  t.same(listReadings(lines), [])
})

t.test('a line of Traefik has its user agent where that is kept, and the last address of several', async (t) => {
  const line = (agent?: string) =>
    json({
      ClientAddr: '10.0.0.1:5',
      ClientHost: '198.51.100.7, 203.0.113.9',
      RequestMethod: 'GET',
      RequestPath: '/a',
      StartUTC: AT,
      DownstreamStatus: 200,
      'request_User-Agent': agent,
    })
  t.same(listReadings([line(), line('REDACTED'), line('curl/8.5.0')]), [
    ['json', 'lacks userAgent'],
    ['json', 'lacks userAgent'],
    ['json', curl('/a')],
  ])
})

t.test('columns of the W3C are those that the log names, each time that it names them', async (t) => {
  const lines = [
    '#Date: 2026-11-21 09:00:00',
    '2026-11-21 09:00:00 GET /a 203.0.113.9',
    '#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status',
    '2026-11-21 09:00:00 GET /a b=c 203.0.113.9 Some+Bot/1.0+(+https://bot.example/) 200',
    '2026-11-21 09:00:00 GET /a - 203.0.113.9 - 200',
    '#Fields: date time c-ip cs-method cs-uri-stem',
    '2026-11-21 09:00:00 203.0.113.9 GET /a',
    '#Fields: date time c-ip cs-method cs(Host) cs-uri-stem sc-status cs(User-Agent) cs-uri-query',
    ['2026-11-21', '09:00:00', '203.0.113.9', 'GET', 'd.example', '/a', '200', 'Some%2520Bot/1.0%2520(x)', '-'].join(
      '\t',
    ),
  ]
  t.same(listReadings(lines), [
    ['none', 'lacks request'],
    ['w3c', `203.0.113.9 GET /a?b=c | Some Bot/1.0 (+https://bot.example/) | ${AT} | 200`],
    ['w3c', `203.0.113.9 GET /a |  | ${AT} | 200`],
    ['w3c', 'lacks userAgent'],
    ['w3c', `203.0.113.9 GET /a | Some Bot/1.0 (x) | ${AT} | 200`],
  ])
})
