import t, { type Test } from 'tap'
import { readingsOf } from './read-lines.ts'

/* JSON of collectors, gateways and loggers; that of servers is in access-log.long.test.ts. */

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

t.test('all headers of a request say that there was no user agent', async (t) => {
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
  same(t, [
    ['json', kong({ host: 'a.example' }), unsent('/a')],
    ['json', kong({ host: 'a.example', 'user-agent': 'curl/8.5.0' }), curl('/a')],
    ['json', kong({ 'user-agent': ['curl/8.5.0'] }), curl('/a')],
    ['json', kong(undefined), 'lacks userAgent'],
    ['json', waf({ name: 'Host', value: 'a' }), unsent('/a', '')],
    ['json', waf({ name: 'Host', value: 'a' }, { name: 'User-Agent', value: 'curl/8.5.0' }), curl('/a', '')],
    ['json', { httpRequest: google, timestamp: AT, insertId: 'x' }, unsent('/a')],
    ['json', { httpRequest: { ...google, userAgent: 'curl/8.5.0' }, timestamp: AT, insertId: 'x' }, curl('/a')],
    ['json', { httpRequest: google, timestamp: AT }, 'lacks userAgent'],
  ])
})
