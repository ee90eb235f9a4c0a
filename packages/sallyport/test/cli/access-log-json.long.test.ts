import t, { type Test } from 'tap'
import { ACCESS_FORMATS } from '../../src/cli/log/access/formats.ts'
import { readingsOf } from './read-lines.ts'

/* JSON of collectors, gateways and loggers; that of servers is in access-log.long.test.ts. */

/** Formats of lines that may lack the one or the other. */
const CURED = ['sallyport', 'caddy', 'pino-http', 'json']

const AT = '2026-11-21T09:00:00.000Z'
const curl = (target: string, status: number | string = 200) =>
  `203.0.113.9 GET ${target} | curl/8.5.0 | ${AT} | ${status}`
const unsent = (target: string, status: number | string = 200) => `203.0.113.9 GET ${target} |  | ${AT} | ${status}`

function same(test: Test, samples: readonly (readonly [format: string, value: unknown, read: string])[]): void {
  for (const [format, value, read] of samples) {
    const line = typeof value === 'string' ? value : JSON.stringify(value)
    test.same(readingsOf([line]), [[format, read]], line.slice(0, 90))
  }
}

const LOGSTASH = {
  '@timestamp': AT,
  path: '/var/log/nginx/access.log',
  host: 'web1',
  clientip: '203.0.113.9',
  timestamp: '21/Nov/2026:09:00:00 +0000',
  verb: 'GET',
  request: '/login',
  response: '200',
  referrer: '"-"',
  agent: '"curl/8.5.0"',
}

t.test('a request of Logstash is its path, not the file that it was read from, and without quotes', async (t) => {
  same(t, [
    ['json', LOGSTASH, curl('/login')],
    ['json', { ...LOGSTASH, agent: '"-"' }, unsent('/login')],
    ['json', { ...LOGSTASH, request: '"/login"', timestamp: '"21/Nov/2026:09:00:00 +0000"' }, curl('/login')],
    ['json', { ...LOGSTASH, request: 'GET /a HTTP/1.1', verb: undefined }, curl('/a')],
    // Without a method beside it, it may be anything.
    ['json', { ...LOGSTASH, verb: undefined, path: '/a' }, curl('/a')],
  ])
})

t.test('headers without a user agent say that none was sent, where a line before has one', async (t) => {
  const kong = (headers: unknown) => ({
    request: { method: 'GET', uri: '/a', headers },
    response: { status: 200, headers: {} },
    client_ip: '203.0.113.9',
    started_at: Date.parse(AT),
  })
  const waf = (...headers: readonly unknown[]) => ({
    timestamp: Date.parse(AT),
    httpRequest: { clientIp: '203.0.113.9', headers, uri: '/a', httpMethod: 'GET' },
  })
  const google = { requestMethod: 'GET', requestUrl: 'https://a.example/a', status: 200, remoteIp: '203.0.113.9' }
  const kept = JSON.stringify(kong({ 'user-agent': 'curl/8.5.0' }))
  const beside = (value: unknown) => readingsOf([kept, JSON.stringify(value)]).slice(1)
  t.same(beside(kong({ host: 'a.example' })), [['json', unsent('/a')]])
  t.same(beside(kong(undefined)), [['json', 'lacks userAgent']])
  t.same(beside(waf({ name: 'Host', value: 'a' })), [['json', unsent('/a', '')]])
  same(t, [
    ['json', kong({ host: 'a.example' }), 'lacks userAgent'],
    ['json', kong({ host: 'a.example', 'user-agent': 'curl/8.5.0' }), curl('/a')],
    ['json', kong({ 'user-agent': ['curl/8.5.0'] }), curl('/a')],
    ['json', kong(undefined), 'lacks userAgent'],
    ['json', waf({ name: 'Host', value: 'a' }), 'lacks userAgent'],
    ['json', waf({ name: 'Host', value: 'a' }, { name: 'User-Agent', value: 'curl/8.5.0' }), curl('/a', '')],
    ['json', { httpRequest: google, timestamp: AT, insertId: 'x' }, unsent('/a')],
    ['json', { httpRequest: { ...google, userAgent: 'curl/8.5.0' }, timestamp: AT, insertId: 'x' }, curl('/a')],
    ['json', { httpRequest: google, timestamp: AT }, 'lacks userAgent'],
  ])
})

t.test('gateways, delivery networks and loggers by their names of members', async (t) => {
  const winston = {
    level: 'info',
    message: 'HTTP GET /a',
    meta: { req: { url: '/a', method: 'GET', headers: { 'user-agent': 'curl/8.5.0' } }, res: { statusCode: 200 } },
    timestamp: AT,
  }
  const akamai = {
    version: 2,
    reqTimeSec: '1795251600.000',
    cliIP: '203.0.113.9',
    statusCode: '200',
    reqMethod: 'GET',
    reqPath: 'a%2Fb',
    UA: 'a%2F1+%28b%2Bc%29',
    queryStr: '-',
  }
  const ours = {
    time: AT,
    requestId: 'x',
    action: 'allow',
    enforced: true,
    client: 'xC3_hash',
    method: 'GET',
    path: '/a',
    status: 200,
    class: 'human',
    networkClass: 'unknown',
    userAgent: 'curl/8.5.0',
  }
  const console = {
    request: { client_ip: '203.0.113.9', method: 'GET', uri: '/a', headers: { 'User-Agent': ['curl/8.5.0'] } },
    status: 200,
  }
  const fluentd = { remote: '203.0.113.9', method: 'GET', path: '/a', code: '200', agent: 'curl/8.5.0' }
  same(t, [
    [
      'json',
      {
        timestamp: '2026-11-21T09:00:00+0000',
        client_ip: '203.0.113.9',
        url: '/a',
        request_method: 'GET',
        request_user_agent: 'curl/8.5.0',
        response_status: 200,
      },
      curl('/a'),
    ],
    [
      'json',
      {
        ':authority': 'a.example',
        downstream_remote_address: '203.0.113.9:5123',
        method: 'GET',
        response_code: 200,
        start_time: AT,
        'user-agent': 'curl/8.5.0',
        'x-envoy-origin-path': '/a',
      },
      curl('/a'),
    ],
    ['json', { ...fluentd, time: AT }, curl('/a')],
    ['json', fluentd, 'lacks time'],
    ['pino-http', winston, 'lacks address'],
    [
      'pino-http',
      { ...winston, meta: { ...winston.meta, req: { ...winston.meta.req, ip: '203.0.113.9' } } },
      curl('/a'),
    ],
    ['akamai', akamai, `203.0.113.9 GET /a/b | a/1 (b+c) | ${AT} | 200`],
    [
      'akamai',
      { ...akamai, reqPath: '/a%20b', queryStr: 'c=d', UA: 'a%2F1%20(+b)' },
      `203.0.113.9 GET /a%20b?c=d | a/1 (+b) | ${AT} | 200`,
    ],
    ['akamai', { ...akamai, UA: undefined }, 'lacks userAgent'],
    ['akamai', { ...akamai, UA: '-' }, unsent('/a/b')],
    ['vercel', { deploymentId: 'd', timestamp: Date.parse(AT), proxy: { path: '/a' } }, 'lacks request'],
    ['sallyport', ours, 'lacks address'],
    [
      'caddy',
      `2026/11/21 09:00:00.000\tINFO\thttp.log.access\thandled request\t${JSON.stringify(console)}`,
      curl('/a'),
    ],
    ['none', `2026/11/21 09:00:00.000\tINFO\thttp\tstarting\t{"a":1}`, 'lacks request'],
    ['morgan', 'GET /a 200 3.123 ms - 12', 'lacks userAgent'],
    ['morgan', 'GET /a 304 - - 3.123 ms', 'lacks userAgent'],
    ['morgan', '::ffff:203.0.113.9 - GET /a HTTP/1.1 200 12 - 3.1 ms', 'lacks userAgent'],
    ['nlb', 'tls 2.0 2026-11-21T09:00:00 net/x/1 l 203.0.113.9:5123 10.0.0.2:443 5 2 98 246 - arn', 'lacks request'],
    ['cloudfront-realtime', '1795251600.123\t203.0.113.9\t0.001\t200\t12\tGET', 'lacks columns'],
  ])
})

t.test('a line that is not read has its cure in every format of JSON', async (t) => {
  for (const { name, cures = {} } of ACCESS_FORMATS.filter(({ name }) => CURED.includes(name)))
    for (const lack of ['address', 'userAgent'] as const) t.ok(cures[lack], `${name}: ${lack}`)
})
