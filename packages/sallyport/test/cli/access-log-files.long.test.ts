import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatAddress } from '@sallyport/core'
import { createLog } from '@sallyport/engine'
import t from 'tap'
import { readAccessLog } from '../../src/cli/log/access/access-log.ts'
import { parseMoment } from '../../src/cli/log/access/moment.ts'
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
      t.equal(format, 'sallyport')
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
    `web-1  | ${line}`,
    `Nov 21 09:00:00 host nginx[12]: ${line}`,
    `Nov 21 09:00:00.123456 host nginx[12]: ${line}`,
    `2026-11-21T09:00:00+0000 host nginx[12]: ${line}`,
    `<190>Nov 21 09:00:00 host nginx: ${line}`,
    `<134>2026-11-21T09:00:00Z cache-fra1 log[123]: ${line}`,
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
    `${AT} web-1 203.0.113.9:2817 10.0.0.2:80 0.1 0.1 0.1 200 200 0 57 "GET http://a.example/a HTTP/1.1" "curl/8.5.0" - -`,
    `${AT} heroku[router]: at=info method=GET path="/a"`,
  ]
  writeFileSync(file, own.join('\n'))
  const found: unknown[] = []
  for await (const { reading, format } of readAccessLog(file))
    found.push([format, 'lacks' in reading ? reading.lacks : formatAddress(reading.address)])
  t.same(found, [
    ['combined', '203.0.113.9'],
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
  ]) {
    t.equal(parseMoment(given), at, String(given))
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
    '31/Dec/2026:23:59:60 +0000',
    null,
    {},
  ]) {
    t.equal(parseMoment(given), undefined, String(given))
  }
})
