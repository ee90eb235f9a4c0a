import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientTrust, formatAddress, parseTrust } from '@sallyport/core'
import { createLog } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { ACCESS_FORMATS, createLineReader, readAccessLog } from '../../src/cli/log/access/access-log.ts'
import { parseFields } from '../../src/cli/log/access/json.ts'
import { parseMoment } from '../../src/cli/log/access/moment.ts'
import type { AccessFormat, LoggedLine } from '../../src/cli/log/access/reading.ts'
import { FIREFOX } from './command.ts'
import { observed } from './observed.ts'

/** Writes how a line is read: `address method target | user agent | moment | status`, or what it lacks. */
function describeReading({ reading, format = 'none' }: LoggedLine): readonly [format: string, read: string] {
  if ('lacks' in reading) return [format, `lacks ${reading.lacks}`]
  const { address, method, target, userAgent, at, status = '' } = reading
  return [
    format,
    `${formatAddress(address)} ${method} ${target} | ${userAgent} | ${new Date(at).toISOString()} | ${status}`,
  ]
}

function listReadings(
  lines: readonly string[],
  formats: readonly AccessFormat[] = ACCESS_FORMATS,
  trust?: ClientTrust,
): readonly (readonly [string, string])[] {
  const read = createLineReader(formats, lines, trust)
  return lines.flatMap((line) => read(line).map(describeReading))
}

/* A request that lines of text are about, in parts, and its reading. */

const AT = '2026-11-21T09:00:00.000Z'
const CLF = '[21/Nov/2026:10:00:00 +0100]'
const REQUEST = '"GET /a HTTP/1.1"'
const COMBINED = `${CLF} ${REQUEST} 200 12 "-" "curl/8.5.0"`
const named = (name: string) => ACCESS_FORMATS.filter((format) => format.name === name)
const sent = (userAgent: string, status: number | string = 200, target = '/a') =>
  `203.0.113.9 GET ${target} | ${userAgent} | ${AT} | ${status}`

/** The user agents of lines that differ in what is behind the request, or what they lack. */
function listAgents(...behind: readonly string[]): readonly string[] {
  return listReadings(behind.map((rest) => `203.0.113.9 - - ${CLF} ${REQUEST} ${rest}`)).map(([, read]) =>
    read.startsWith('lacks') ? read : (read.split(' | ')[1] ?? ''),
  )
}

/** A line, its format, and what is read of it: `address method target | user agent | moment | status`, or what it lacks. */
type Sample = readonly [format: string, line: string, read: string]

const UNIX = Date.parse(AT) / 1_000
const curl = (target: string, status: number | string = 200) => sent('curl/8.5.0', status, target)
const NAMELESS = sent('')
const json = (value: unknown) => JSON.stringify(value)

/** Shows that its log has user agents. */
const AGENT = `203.0.113.9 - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`

const TEXT: readonly Sample[] = [
  ['combined', `203.0.113.9 - - ${CLF} "GET /a?b=c HTTP/1.1" 200 12 "https://a.example/" "curl/8.5.0"`, curl('/a?b=c')],
  ['combined', `203.0.113.9 - a [b] ${CLF} "GET / HTTP/1.1" 200 12 "-" "curl/8.5.0" "198.51.100.1" 0.003`, curl('/')],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" -`, NAMELESS],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 - - -`, NAMELESS],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 -`, 'lacks userAgent'],
  ['combined', `2001:db8::9 - - ${CLF} "POST /a HTTP/2.0" 200 0 "-" "-"`, `2001:db8::9 POST /a |  | ${AT} | 200`],
  [
    'combined',
    `203.0.113.9 - - ${CLF} "GET /\\x22\\xe9 HTTP/1.1" 200 0 "-" "a \\"b\\" \\\\"`,
    `203.0.113.9 GET /"é | a "b" \\ | ${AT} | 200`,
  ],
  ['combined', `203.0.113.9 - - ${CLF} "GET /a b HTTP/1.1" 304 0 "-" "curl/8.5.0"`, curl('/a b', 304)],
  ['combined', `203.0.113.9 - - ${CLF} "GET http://a.example/x HTTP/1.1" 200 0 "-" "curl/8.5.0"`, curl('/x')],
  ['combined', `203.0.113.9 - - ${CLF} "\\x16\\x03\\x01" 400 150 "-" "-"`, 'lacks request'],
  ['combined', `203.0.113.9 - - ${CLF} "-" 408 0 "-" "-"`, 'lacks request'],
  ['combined', `203.0.113.9 - - [-] "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks time'],
  ['combined', `203.0.113.9, 10.0.0.1 - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks address'],
  ['combined', `gate.example - - ${CLF} "GET / HTTP/1.1" 200 0 "-" "curl/8.5.0"`, 'lacks address'],
  ['none', 'Traceback (most recent call last):', 'lacks request'],
  ['none', `1.2.3.4 ${'"'.repeat(10_000)}`, 'lacks request'],
  ['none', '{', 'lacks request'],
  ['none', '{"__proto__":{"ip":"1.2.3.4"}}', 'lacks request'],
  ['none', '[]', 'lacks request'],
]

const CADDY_REQUEST = { remote_ip: '10.0.0.1', client_ip: '203.0.113.9', method: 'GET', uri: '/a' }
const caddy = (change: object, request: object = {}) => {
  const asked = { ...CADDY_REQUEST, headers: { 'User-Agent': ['curl/8.5.0'] }, ...request }
  return json({ level: 'info', ts: UNIX, logger: 'http.log.access.log0', request: asked, status: 200, ...change })
}

const CLOUD_FRONT = { date: '2026-11-21', time: '09:00:00', 'c-ip': '203.0.113.9', 'cs-method': 'GET' }
const CLOUD_FRONT_REST = { 'cs-uri-stem': '/a', 'cs-uri-query': '-', 'sc-status': 200, 'cs(User-Agent)': 'curl/8.5.0' }
const cloudFront = (change: object = {}) => json({ ...CLOUD_FRONT, ...CLOUD_FRONT_REST, ...change })

const NGINX = { remote_addr: '203.0.113.9', request: 'GET /a HTTP/1.1', status: 200, http_user_agent: 'curl/8.5.0' }
const nginx = (change: object = {}) => json({ time_iso8601: AT, ...NGINX, ...change })
const later = { time_iso8601: undefined }
const split = { request: undefined, request_method: 'GET', uri: '/a', request_uri: '/a?b', request_time: 0.01 }
const other = { remoteIP: '203.0.113.9', method: 'GET', request: '/a', query: '?b', userAgent: 'curl/8.5.0' }

const OBJECTS: readonly Sample[] = [
  ['json', cloudFront(), curl('/a')],
  ['json', cloudFront({ 'cs-uri-query': 'b=c', 'sc-status': '304' }), curl('/a?b=c', 304)],
  ['json', cloudFront({ date: undefined, time: undefined, timestamp: String(UNIX) }), curl('/a')],
  ['json', cloudFront({ 'cs(User-Agent)': undefined }), 'lacks userAgent'],
  ['json', cloudFront({ 'cs(User-Agent)': null, 'cs-uri': null }), NAMELESS],
  ['json', caddy({}), curl('/a')],
  ['json', caddy({ ts: AT }), curl('/a')],
  ['json', caddy({ ts: '2026/11/21 09:00:00' }), curl('/a')],
  ['json', caddy({ ts: 'yesterday' }), 'lacks time'],
  ['json', caddy({}, { client_ip: undefined, remote_ip: undefined, remote_addr: '203.0.113.9:4711' }), curl('/a')],
  ['json', caddy({}, { headers: { Accept: ['*/*'] } }), NAMELESS],
  ['json', caddy({}, { headers: undefined }), 'lacks userAgent'],
  ['none', json({ level: 'info', ts: UNIX, msg: 'serving initial configuration' }), 'lacks request'],
  ['json', nginx({ ...later, time_local: '21/Nov/2026:10:00:00 +0100', status: '200' }), curl('/a')],
  ['json', nginx({ ...later, msec: String(UNIX), ...split }), curl('/a?b')],
  ['json', nginx({ time_iso8601: '2026-11-21T10:00:00+01:00', http_user_agent: '' }), NAMELESS],
  ['json', nginx().replace('/a', '/\\x22'), curl('/"')],
  ['json', json({ time: CLF, ...other, status: '200' }), curl('/a')],
  ['json', nginx(later), 'lacks time'],
  ['json', nginx({ http_user_agent: undefined }), 'lacks userAgent'],
  ['json', nginx({ http_user_agent: null }), NAMELESS],
  ['json', nginx({ http_user_agent: undefined, user_agent: null }), NAMELESS],
  ['json', nginx({ http_user_agent: null, user_agent: 'curl/8.5.0' }), curl('/a')],
  ['json', nginx({ http_user_agent: null, userAgent: 'curl/8.5.0' }), curl('/a')],
  ['json', nginx({ status: undefined, statusCode: 404 }), curl('/a', 404)],
  ['json', nginx({ status: undefined }), curl('/a', '')],
  ['json', nginx({ remote_addr: null }), 'lacks address'],
  ['json', nginx({ remote_addr: '-' }), 'lacks address'],
  // The names are those of the decision log, which has other members beside them.
  ['json', nginx({ ...later, time: AT, requestId: '0a1b', method: 'GET', path: '/a', request: undefined }), curl('/a')],
]

t.test('a line of each format is read, and nothing is made up of what it lacks', async (t) => {
  for (const [format, line, read] of [...TEXT, ...OBJECTS])
    t.same(listReadings([line, AGENT]).slice(0, -1), [[format, read]], line.slice(0, 90))
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
  const client = { ClientAddr: '10.0.0.1:5', ClientHost: '198.51.100.7, 203.0.113.9' }
  const request = { RequestMethod: 'GET', RequestPath: '/a', StartUTC: AT, DownstreamStatus: 200 }
  const line = (agent?: string) => json({ ...client, ...request, 'request_User-Agent': agent })
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
    '2026-11-21 09:00:00 203.0.113.9 GET d.example /a 200 Some%2520Bot/1.0%2520(x) -'.replaceAll(' ', '\t'),
  ]
  t.same(listReadings(lines), [
    ['none', 'lacks request'],
    ['w3c', `203.0.113.9 GET /a?b=c | Some Bot/1.0 (+https://bot.example/) | ${AT} | 200`],
    ['w3c', NAMELESS],
    ['w3c', 'lacks userAgent'],
    ['w3c', `203.0.113.9 GET /a | Some Bot/1.0 (x) | ${AT} | 200`],
  ])
})

async function readFile(t: Test, text: string) {
  const file = join(t.testdir(), 'a.log')
  writeFileSync(file, text)
  const read: (readonly [string, string])[] = []
  for await (const line of readAccessLog(file)) read.push(describeReading(line))
  return read
}

t.test('the decision log is a log of requests, in each of its forms', async (t) => {
  for (const format of ['plain', 'ecs', 'otel'] as const) {
    const file = join(t.testdir(), 'decisions.log')
    const log = createLog({ requests: 'all', addresses: 'full', sample: 1, format, file })
    const seen = observed('one', 'allow', { client: '203.0.113.9' })
    for (const userAgent of ['curl/8.5.0', '', undefined]) log.observe({ ...seen, userAgent })
    log.observe({ ...seen, answeredBy: 'check' })
    log.audit({ what: 'keys create', who: 'ada' })
    await log.close()
    const readings: unknown[] = []
    for await (const { reading, format } of readAccessLog(file))
      readings.push([format, 'lacks' in reading ? reading.lacks : reading.userAgent].join())
    t.same(readings, ['sallyport,curl/8.5.0', 'sallyport,', 'sallyport,userAgent'], format)
  }
})

t.test('a line within the line of a collector is read as its program wrote it', async (t) => {
  const line = `203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`
  const own = { ip: '203.0.113.9', url: '/a', userAgent: 'curl/8.5.0', time: AT }
  const wrapped = [
    JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: AT }),
    JSON.stringify({ date: 1.5, stream: 'stdout', log: line }),
    JSON.stringify({ '@timestamp': AT, message: line, host: { name: 'a' } }),
    JSON.stringify({ textPayload: line, timestamp: AT }),
    JSON.stringify({ log: `${AT} stdout F ${line}` }),
    JSON.stringify({ message: JSON.stringify(own), logger: 'x' }),
    JSON.stringify({ message: 'GET /a 200', ...own }),
    `2026-11-21T09:00:00.123456789Z stdout F ${line}`,
    `web-1  | ${line}`,
    `Nov 21 09:00:00.123456 host nginx[12]: ${line}`,
    `2026-11-21T09:00:00+0000 host nginx[12]: ${line}`,
    `<190>Nov 21 09:00:00 host nginx: ${line}`,
    `<134>2026-11-21T09:00:00Z cache-fra1 log[123]: ${line}`,
    JSON.stringify({ __CURSOR: 'x', MESSAGE: line, _PID: '7' }),
  ]
  const read = await readFile(t, `\ufeff${wrapped.join('\r\n')}\n`)
  t.equal(read.length, wrapped.length)
  for (const [at, [, text]] of read.entries()) t.ok(text.startsWith(curl('/a', '')), `${wrapped[at]}`)
})

t.test('a beginning that looks like a collector\u2019s stays where it is the line\u2019s own', async (t) => {
  const own = [
    `shop.log:443 203.0.113.9 - - ${CLF} "GET /a HTTP/1.1" 200 12 "-" "curl/8.5.0"`,
    `${AT} web-1 203.0.113.9:2817 10.0.0.2:80 0.1 0.1 0.1 200 200 0 57 "GET http://a.example/a HTTP/1.1" "curl/8.5.0" - -`,
    `${AT} heroku[router]: at=info method=GET path="/a"`,
  ]
  const none = ['none', 'lacks request']
  t.same(await readFile(t, own.join('\n')), [['combined', curl('/a')], none, none])
})

t.test('times in every unit and form, and lengths of time that are none', async (t) => {
  const utc = ['T10:00:00+0100', ' 09:00:00', ' 09:00:00,000'].map((time) => `2026-11-21${time}`)
  const local = ['2026/11/21 09:00:00.000', '21/Nov/2026:10:00:00 +0100', CLF, '21/Nov/2026:09:00:00']
  for (const given of [UNIX, UNIX * 1e3, UNIX * 1e6, UNIX * 1e9, `${UNIX}.000`, `${UNIX}000`, AT, ...utc, ...local])
    t.equal(parseMoment(given), Date.parse(AT), String(given))
  const texts = ['', '-', '0.003', '10:00:00', 'now', '21/Nov/2026', '31/Dec/2026:23:59:60 +0000']
  for (const given of [0, 0.003, -1, 12_345, Number.NaN, ...texts, null, {}])
    t.equal(parseMoment(given), undefined, String(given))
})

t.test('two addresses in front are a proxy and its client as well as a host and its client', async (t) => {
  const unclear = [
    `198.51.100.7 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7 - 10.0.0.5 - ${COMBINED}`,
    `10.0.0.5 - 198.51.100.7 ${COMBINED}`,
    `198.51.100.7:51234 10.0.0.5 - - ${COMBINED}`,
    `192.0.2.1:443 203.0.113.9 - - ${COMBINED}`,
    `"198.51.100.7" 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7, 10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `198.51.100.7,10.0.0.6 10.0.0.5 - - ${COMBINED}`,
    `10.0.0.5 198.51.100.7,10.0.0.6 - - ${COMBINED}`,
    `unknown, 10.0.0.5 - - ${COMBINED}`,
  ]
  const trust = parseTrust(['private'])
  for (const line of unclear) {
    t.same(listReadings([line]), [['combined', 'lacks address']], line)
    const read = line.includes('198.51.100.7') ? /^198\.51\.100\.7 GET/ : /^lacks address$/
    t.match(listReadings([line], undefined, trust), [['combined', read]], line)
  }
  const clear = [
    'shop.example:443 203.0.113.9',
    '"shop.example" 203.0.113.9',
    '203.0.113.9:40001 203.0.113.9',
    '- 203.0.113.9',
    '203.0.113.9 shop.example -',
    '203.0.113.9:4711 - -',
    '"203.0.113.9 - -',
  ]
  for (const front of clear) t.same(listReadings([`${front} - ${COMBINED}`]), [['combined', sent('curl/8.5.0')]], front)
})

t.test('the usual longer forms of the combined one are read', async (t) => {
  const behind = [
    '"198.51.100.1"',
    '"198.51.100.1, 10.0.0.1" 0.003 0.002, 0.001 10.0.0.2:80, 10.0.0.3:80',
    '0.003 0.002 .',
    '"-" rt=0.1 uct="0.0" uht="0.1" urt="0.1"',
    '331 0.004 [default-web-80] [] 10.1.2.3:8080 612 0.004 200 9b2b1f4bd9e8b0f8',
    '"TLSv1.3" "TLS_AES_256_GCM_SHA384"',
    '"203.0.113.8:4711" "10.0.1.2:61001" x_forwarded_for:"-" vcap_request_id:"5f" response_time:0.01',
    '12 TCP_MISS:HIER_DIRECT',
  ]
  for (const more of behind) {
    const read = listAgents(`200 12 "https://a.example/" "${FIREFOX}" ${more}`, `200 12 "-" "-" ${more}`)
    t.same(read, [FIREFOX, ''], more)
  }
  const agents = ['okhttp', 'My Podcast App', 'a \\"b\\" c', '-', '', 'https://bot.example/', '12345', 'HIT']
  const lines = [FIREFOX, ...agents].map((agent) => `200 12 "-" "${agent}"`)
  const read = agents.map((agent) => (agent === '-' ? '' : agent.replaceAll('\\', '')))
  t.same(listAgents(...lines), [FIREFOX, ...read], 'one line shows that the log has user agents there')
})

t.test('a log is not read where no line has a user agent in its place', async (t) => {
  for (const [what, rest] of [
    ['a server that logs no user agent', '200 12 "https://a.example/" "198.51.100.1"'],
    ['the same', '200 12 "-" "HIT"'],
    ['the same', '200 12 "-" "text/html; charset=utf-8"'],
    ['HAProxy', '200 2750 "" "" 33317 568 "web" "app" "one" 10 0'],
    ['Traefik', '200 5 "-" "-" 1 "r@file" "http://10.0.0.2:80" 3ms'],
    ['another place', `200 12 "${FIREFOX}"`],
    ["quotes of the client's", '200 12 "-" "Mozilla/5.0 "x" y"'],
    ['no place', '200 12 0.0012'],
  ] as const)
    t.same(listAgents(rest, rest), Array(2).fill('lacks userAgent'), `${what}: ${rest}`)
  const line = `203.0.113.9 - - ${CLF} ${REQUEST} 200 12 "-" "HIT"`
  t.same(listReadings([line], named('combined')), [['combined', sent('HIT')]], 'the operator names the format')
})

t.test('nothing is made up of the logs of other programs', async (t) => {
  const lines = [
    `79a5 bucket ${CLF} 203.0.113.9 79a5 3E57 REST.GET.OBJECT a ${REQUEST} 200 - 113 - 7 - "-" "${FIREFOX}" - s9`,
    `${CLF} - 200 200 - GET https shop.example "/a" [Client 203.0.113.9] [Length 12] [Gzip -] [Sent-to 10.0.0.2] "curl/8.5.0" "-"`,
    `[${AT}] "GET /a HTTP/2" 200 - 0 12 3 2 "198.51.100.1" "${FIREFOX}" "5f0c" "shop.example" "10.0.0.2:80"`,
    `shop.example - [${AT}] ${REQUEST} 200 0 12 "-" "${FIREFOX}" "203.0.113.9:4711" "10.0.1.2:61001"`,
    'at=info method=GET path="/a" host=shop.example request_id=5f fwd="203.0.113.9" dyno=web.1 status=200 bytes=61',
    '1795251600.123    345 203.0.113.9 TCP_MISS/200 12 GET http://a.example/ - HIER_DIRECT/192.0.2.1 -',
    '[pid: 7|app: 0|req: 1/1] 203.0.113.9 () {34 vars in 500 bytes} [Sat Nov 21 09:00:00 2026] GET /a => generated 12 bytes',
    '203.0.113.9, -, 11/21/26, 9:00:00, W3SVC2, WEB, 10.0.0.1, 15, 200, 300, 200, 0, GET, /a, -,',
    `https ${AT} app/a/1 203.0.113.9:2817 10.0.0.1:80 0.1 0.1 0.1 200 200 0 57 "GET https://a.example:443/x HTTP/1.1" "curl/8.5.0" - -`,
    '203.0.113.9:5 [21/Nov/2026:10:00:00.123] web~ app/one 10/0/30/69/109 200 27 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"',
    `HIT|200|1795251600123|412|390|203.0.113.9|-|https://a.example/a|WA|${FIREFOX}|5f0c|DE`,
    JSON.stringify({ deploymentId: 'd', timestamp: Date.parse(AT), proxy: { path: '/a' } }),
    JSON.stringify({ timestamp: AT, client: { address: '203.0.113.9' }, url: { path: '/a' } }),
  ]
  for (const line of lines) t.match(listReadings([line]), [[String, /^lacks /]], line.slice(0, 90))
})

t.test('members of other JSON are named, within others or with dots, beside the usual ones', async (t) => {
  const fields = [parseFields('ip=client.ip, target=url.original,userAgent=UA,at=start')]
  const line = { client: { ip: '203.0.113.9' }, 'url.original': '/a', method: 'GET', start: AT, status: 200 }
  t.same(listReadings([JSON.stringify({ ...line, UA: FIREFOX })], fields), [['fields', sent(FIREFOX)]])
  t.same(listReadings([JSON.stringify({ ...line, UA: null })], fields), [['fields', sent('')]])
  t.same(listReadings([JSON.stringify(line)], fields), [['fields', 'lacks userAgent']])
  for (const wrong of ['agent=UA', 'ip', 'ip=', '__proto__=a'])
    t.throws(() => parseFields(wrong), { code: 'invalid_request', message: /is not one of ip, method/ }, wrong)
})

t.test('the client of a trusted proxy is in the column of its header, in every format', async (t) => {
  const json = (members: object) => JSON.stringify({ time: AT, user_agent: 'curl/8.5.0', ...members })
  const usual = { remote_addr: '10.0.0.5', request: 'GET /a HTTP/1.1' }
  const caddy = { remote_ip: '10.0.0.5', uri: '/a' }
  const traefik = { ClientHost: '10.0.0.5', RequestPath: '/a', 'request_User-Agent': 'curl/8.5.0' }
  const logs = (name: string, value: string) => {
    const under = name.toLowerCase().replaceAll('-', '_')
    const headers = { 'User-Agent': ['curl/8.5.0'], [name]: [value] }
    return [
      [json({ ...usual, [`http_${under}`]: value })],
      [json({ ...usual, [under]: value })],
      [JSON.stringify({ ts: AT, request: { ...caddy, headers } })],
      [json({ ...traefik, [`request_${name}`]: value })],
      [
        `#Fields: date time c-ip cs-method cs-uri-stem cs(User-Agent) cs(${name})`,
        `2026-11-21 09:00:00 10.0.0.5 GET /a curl/8.5.0 ${value.replaceAll(' ', '+')}`,
      ],
      [`10.0.0.5 - - ${COMBINED} "${value}"`],
    ]
  }
  const listClients = (header: string, value: string, trust: ReturnType<typeof parseTrust>) =>
    logs(header, value).map((lines) => listReadings(lines, undefined, trust).map(([, read]) => read.split(' ')[0]))
  const each = (address: string) => Array.from({ length: 6 }, () => [address])
  const trust = parseTrust(['private'])
  t.same(listClients('X-Forwarded-For', '1.1.1.1, 203.0.113.9, 10.0.0.6', trust), each('203.0.113.9'))
  t.same(listClients('X-Forwarded-For', '-', trust), each('10.0.0.5'))
  const untrusted = listClients('X-Forwarded-For', '203.0.113.9', parseTrust(['loopback']))
  t.same(untrusted, each('10.0.0.5'), 'a client says what it likes')
  const other = parseTrust(['private'], 'cf-connecting-ip')
  t.same(listClients('CF-Connecting-IP', '203.0.113.9', other), each('203.0.113.9'))
  t.same(listClients('X-Real-IP', '203.0.113.9', trust).slice(0, 5), each('10.0.0.5').slice(0, 5), 'another header')
})
