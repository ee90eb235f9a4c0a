import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatAddress } from '@sallyport/core'
import { createLog } from '@sallyport/engine'
import t from 'tap'
import { readAccessLog } from '../../src/cli/log/access/access-log.ts'
import { momentAmong, momentOf } from '../../src/cli/log/access/moment.ts'
import { observed } from './observed.ts'

/* Files of logs, and the times in them; the lines of each format are in access-log.long.test.ts. */

const AT = '2026-11-21T09:00:00.000Z'
const CLF = '[21/Nov/2026:10:00:00 +0100]'
const UNIX = Date.parse(AT) / 1_000

t.test('the decision log is a log of requests, in each of its forms', async (t) => {
  for (const format of ['plain', 'ecs', 'otel'] as const) {
    const file = join(t.testdir(), 'decisions.log')
    const log = createLog({ requests: 'all', addresses: 'full', sample: 1, format, file })
    log.observe({ ...observed('one', 'allow', { client: '203.0.113.9' }), userAgent: 'curl/8.5.0' })
    log.observe({ ...observed('two', 'allow', { client: '203.0.113.9' }), userAgent: '' })
    log.observe(observed('old', 'allow', { client: '203.0.113.9' }))
    log.observe({ ...observed('check', 'allow'), answeredBy: 'check' })
    log.audit({ what: 'keys create', who: 'ada' })
    await log.close()
    const readings: unknown[] = []
    for await (const { reading, format } of readAccessLog(file)) {
      t.equal(format?.name, 'sallyport')
      readings.push('lacks' in reading ? reading : reading.userAgent)
    }
    t.same(readings, ['curl/8.5.0', '', { lacks: 'userAgent' }], format)
  }
})

t.test('a line within the line of a collector is read as its program wrote it', async (t) => {
  const line = `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`
  const wrapped = [
    JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: AT }),
    JSON.stringify({ date: 1.5, stream: 'stdout', log: line }),
    JSON.stringify({ '@timestamp': AT, message: line, host: { name: 'a' } }),
    JSON.stringify({ textPayload: line, timestamp: AT }),
    JSON.stringify({ log: `${AT} stdout F ${line}` }),
    JSON.stringify({
      message: JSON.stringify({ ip: '203.0.113.9', url: '/a', userAgent: 'curl/8.5.0', time: AT }),
      logger: 'x',
    }),
    JSON.stringify({ message: 'GET /a 200', ip: '203.0.113.9', url: '/a', userAgent: 'curl/8.5.0', time: AT }),
    `2026-11-21T09:00:00.123456789Z stdout F ${line}`,
    `2026-11-21T09:00:00.123456789Z ${line}`,
    `[pod/web-1/nginx] ${line}`,
    `web-1  | ${line}`,
    `web-1  | 2026-11-21T09:00:00.123Z ${line}`,
    `\u001b[36mweb-1 | \u001b[0m${line}`,
    `Nov 21 09:00:00 host nginx[12]: ${line}`,
    `Nov 21 09:00:00.123456 host nginx[12]: ${line}`,
    `2026-11-21T09:00:00+0000 host nginx[12]: ${line}`,
    `Sat 2026-11-21 09:00:00 UTC host nginx[12]: ${line}`,
    `1795251600.123456 host nginx[12]: ${line}`,
    `<190>Nov 21 09:00:00 host nginx: ${line}`,
    `<134>2026-11-21T09:00:00Z cache-fra1 log[123]: ${line}`,
    `<190>1 2026-11-21T09:00:00.123456+00:00 host nginx - - - ${line}`,
    `1 ${AT} host nginx 123 access [sd a="b"][sd c="d"] ${line}`,
    `${AT} app[web.1]: ${line}`,
    `access.log:${line}`,
    `/var/log/nginx/access.log.1:${line}`,
    JSON.stringify({ __CURSOR: 'x', MESSAGE: line, _PID: '7' }),
  ]
  const file = join(t.testdir(), 'wrapped.log')
  writeFileSync(file, `\ufeff${wrapped.join('\r\n')}\n`)
  let read = 0
  for await (const { reading } of readAccessLog(file)) {
    t.match(
      reading,
      { target: '/a', userAgent: 'curl/8.5.0', at: Date.parse(AT) },
      wrapped[read]?.slice(0, 30) ?? 'one more',
    )
    read++
  }
  t.equal(read, wrapped.length)
})

t.test('a beginning that looks like a collector\u2019s stays where it is the line\u2019s own', async (t) => {
  const file = join(t.testdir(), 'own.log')
  const own = [
    `shop.log:443 203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    // Two addresses make a name without its port unclear.
    `198.51.100.7 10.0.0.5 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `198.51.100.8 10.0.0.5 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `www.login.example:443 203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `${AT} web-1 203.0.113.9:2817 10.0.0.2:80 0.1 0.1 0.1 200 200 0 57 "GET http://a.example/a HTTP/1.1" "curl/8.5.0" - -`,
    `access.log:2001:db8::9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `access.log:12:203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `${AT} heroku[router]: at=info method=GET path="/a"`,
    `<158>1 ${AT} host heroku router - at=info method=GET path="/a"`,
  ]
  writeFileSync(file, own.join('\n'))
  const found: unknown[] = []
  for await (const { reading, format } of readAccessLog(file))
    found.push([format?.name, 'lacks' in reading ? reading.lacks : formatAddress(reading.address)])
  t.same(found, [
    ['vhost_combined', '203.0.113.9'],
    ['combined', 'address'],
    ['combined', 'address'],
    ['vhost_combined', '203.0.113.9'],
    [undefined, 'request'],
    ['combined', '2001:db8::9'],
    ['combined', 'address'],
    [undefined, 'request'],
    [undefined, 'request'],
  ])
})

t.test('times in every unit and form, and lengths of time that are none', async (t) => {
  const at = Date.parse(AT)
  for (const given of [
    UNIX,
    UNIX * 1e3,
    UNIX * 1e6,
    UNIX * 1e9,
    `${UNIX}.000`,
    `${UNIX}000`,
    AT,
    '2026-11-21T10:00:00+0100',
    '2026-11-21 09:00:00',
    '2026-11-21 09:00:00,000',
    '2026/11/21 09:00:00.000',
    '21/Nov/2026:10:00:00 +0100',
    CLF,
    '21/Nov/2026:09:00:00',
    'Sat, 21 Nov 2026 09:00:00 GMT',
  ]) {
    t.equal(momentOf(given), at, String(given))
  }
  for (const given of [
    0,
    0.003,
    -1,
    12_345,
    Number.NaN,
    '',
    '-',
    '0.003',
    '10:00:00',
    'now',
    '21/Nov/2026',
    '30/Feb/2026:10:00:00 +0000',
    '2026-02-30T10:00:00Z',
    '21/Nov/2026:24:00:00 +0000',
    '31/Dec/2026:23:59:60 +0000',
    null,
    {},
  ]) {
    t.equal(momentOf(given), undefined, String(given))
  }
})

t.test('a date goes before a number that is a length of time', async (t) => {
  const at = Date.parse(AT)
  t.equal(momentAmong([123_456_789, AT]), at)
  t.equal(momentAmong([at / 1000, '2026-11-25T09:00:00Z']), at, 'a collector came later')
  t.equal(momentAmong(['123456789', CLF]), at)
  t.equal(
    momentAmong([UNIX + 0.25, '2026-11-21 10:00:00']),
    at + 250,
    'a finer one stays, and a zone that is not written',
  )
  t.equal(momentAmong([123_456_789]), 123_456_789_000)
  t.equal(momentAmong(['-', 'now']), undefined)
})
